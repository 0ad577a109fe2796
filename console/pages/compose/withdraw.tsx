// Asks before news are withdrawn. It is loaded when somebody wants that.

import { Text } from "@mantine/core";
import type { PublishedItem } from "../../api/news.ts";
import type { Write } from "../../api/writes.ts";
import { ConfirmModal } from "../../components/confirm-modal.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { NEWS } from "../../i18n/news.ts";
import { audienceKinds, newsPath } from "./audience.ts";
import { useTargetName } from "./target-name.ts";

/** The dialog about an item. An Owner and Root can withdraw a single one, anybody else all for its target. */
export default function Withdraw(props: {
  readonly item: PublishedItem;
  readonly onClose: () => void;
  readonly onDone: (count: number) => void;
}) {
  const { item, onClose, onDone } = props;
  const words = useWords(NEWS);
  const me = useStatus();
  const isSingle = audienceKinds(me, location.origin).includes("everybody");
  const name = useTargetName(me, item.to);
  const write: Write = isSingle
    ? { method: "DELETE", path: "/x-news", body: { id: item.id } }
    : { method: "DELETE", path: newsPath(item.to) };
  return (
    <ConfirmModal<{ readonly deleted?: number }>
      title={words.withdrawTitle}
      write={write}
      submit={words.withdraw}
      onClose={onClose}
      onDone={({ deleted = 0 }) => onDone(deleted)}
      isFinal
    >
      <Text size="sm" className="text-block">
        {isSingle ? words.withdrawOne(item.title) : words.withdrawAll(name)}
      </Text>
    </ConfirmModal>
  );
}
