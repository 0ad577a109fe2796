// Asks before a provider key is deleted. It is loaded when somebody means to.

import { Text } from "@mantine/core";
import { useLocation } from "wouter";
import { useGet } from "../../../api/queries.ts";
import { useWrite } from "../../../api/writes.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { WriteForm } from "../../../components/write-form.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { isUsable, type KeyRow } from "./levels.ts";

/** The dialog; after the deletion the pool is shown. */
export default function DeleteKey(props: {
  readonly row: KeyRow;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const { row, name, onClose } = props;
  const words = useWords(POOL);
  const [, navigate] = useLocation();
  const writing = useWrite();
  const others = useGet("/x-keys", { level: `L${row.Level}` }, { everyMs: 0 });
  const isLast =
    others.data !== undefined && !others.data.keys.some((key) => key.ID !== row.ID && isUsable(key));
  return (
    <Dialog title={words.deleteTitle(name)} onClose={onClose}>
      <WriteForm
        writing={writing}
        write={{ method: "DELETE", path: `/x-keys/${row.ID}` }}
        submit={words.delete}
        color="red"
        onDone={() => navigate("/admin/pool")}
      >
        <Text size="sm">{words.deleteText}</Text>
        {isLast && (
          <Text size="sm" fw={600}>
            {words.deleteLast(row.Level)}
          </Text>
        )}
      </WriteForm>
    </Dialog>
  );
}
