// The form of an item of news: whom it is for, its text with what is left of the lengths, how long it is shown, and how it will look.

import { SegmentedControl, SimpleGrid, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAccount } from "../../api/accounts.ts";
import { countText } from "../../api/amount.ts";
import { areDays, codePointsOf, NEWS_BOUNDS, NEWS_DAYS, type NewsDraft, newsBody } from "../../api/news.ts";
import { useGetList } from "../../api/queries.ts";
import { useWrite } from "../../api/writes.ts";
import { AccountPicker } from "../../components/account-picker.tsx";
import { NewsArticle } from "../../components/news-article.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { WriteForm } from "../../components/write-form.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { NEWS } from "../../i18n/news.ts";
import { type AudienceKind, audienceKinds, newsPath, placeOf } from "./audience.ts";

const EMPTY: NewsDraft = { title: "", content: "", days: "" };
/** Whom it is for stands in the address, so that other pages can lead here. */
const VIEW = { for: "user", to: "" };

/** The form; the item is published by its button. */
export function NewsForm() {
  const words = useWords(NEWS);
  const me = useStatus();
  const [view, change] = useUrlState(VIEW);
  const [draft, setDraft] = useState(EMPTY);
  const writing = useWrite<{ readonly news: { readonly id: number } }>();
  const kinds = audienceKinds(me, location.origin);
  const kind = kinds.find((one) => one === view.for) ?? "user";
  const to = /^[1-9]\d{0,14}$/.test(view.to) ? Number(view.to) : null;
  const account = useAccount(kind === "everybody" ? null : to).data?.[0] ?? null;
  const target = targetOf(kind, to, account === null ? null : placeOf(me, account), placeOf(me, null));
  const body = newsBody(draft);
  const set = (typed: Partial<NewsDraft>) => {
    if (writing.answer !== null) writing.reset();
    setDraft({ ...draft, ...typed });
  };
  return (
    <WriteForm
      writing={writing}
      write={target === null || body === null ? null : { method: "POST", path: newsPath(target), body }}
      submit={words.publish}
      onDone={() => setDraft(EMPTY)}
    >
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        <Stack gap="xs">
          <SegmentedControl
            value={kind}
            onChange={(chosen) => change({ for: chosen })}
            aria-label={words.to}
            w="fit-content"
            data={kinds.map((value) => ({ value, label: words.target[value] }))}
          />
          {kind !== "everybody" && (
            <AccountPicker
              label={words.account}
              description={kind === "user" ? words.accountHint : words.groupHint}
              nothingFound={words.nothingFound}
              value={to}
              onChoose={(id) => change({ to: id === null ? "" : String(id) })}
            />
          )}
          <Reach kind={kind} place={kind === "group" ? target : null} isChosen={target !== null} />
          <Texts draft={draft} set={set} isForAll={kind === "everybody"} />
        </Stack>
        <Preview draft={draft} />
      </SimpleGrid>
      {writing.answer !== null && !writing.isRunning && (
        <Text size="sm" role="status">
          {words.published(writing.answer.news.id)}
        </Text>
      )}
    </WriteForm>
  );
}

/** Returns whom the item is for; null while no account is chosen. A group without an account is all that is below the own one. */
function targetOf(
  kind: AudienceKind,
  to: number | null,
  place: string | null,
  ownPlace: string,
): string | null {
  if (kind === "everybody") return "everybody";
  if (kind === "user") return to === null ? null : String(to);
  return to === null ? ownPlace : place;
}

/** How many accounts will read it. */
function Reach(props: {
  readonly kind: AudienceKind;
  readonly place: string | null;
  readonly isChosen: boolean;
}) {
  const { kind, place, isChosen } = props;
  const words = useWords(NEWS);
  const isCounted = kind === "everybody" || place !== null;
  const below = useGetList(
    "/x-dna",
    { ...(place === null ? {} : { dna: place }), page: 1, size: 1 },
    { enabled: isCounted },
  );
  if (!isChosen) return null;
  if (!isCounted) return <Text size="xs">{words.reachOne}</Text>;
  if (below.data === undefined) return null;
  const { total } = below.data;
  return <Text size="xs">{total === 0 ? words.reachNone : words.reach(countText(total))}</Text>;
}

function Texts(props: {
  readonly draft: NewsDraft;
  readonly set: (typed: Partial<NewsDraft>) => void;
  readonly isForAll: boolean;
}) {
  const { draft, set, isForAll } = props;
  const words = useWords(NEWS);
  const counted = (name: "title" | "content") => {
    const [used, most] = [codePointsOf(draft[name]), NEWS_BOUNDS[name]];
    return { text: words.count(countText(used), countText(most)), isOver: used > most };
  };
  const [title, content] = [counted("title"), counted("content")];
  return (
    <>
      <TextInput
        label={words.title}
        description={title.text}
        value={draft.title}
        error={title.isOver}
        onChange={(event) => set({ title: event.currentTarget.value })}
      />
      <Textarea
        label={words.content}
        description={`${content.text} · ${words.contentHint}`}
        value={draft.content}
        error={content.isOver}
        onChange={(event) => set({ content: event.currentTarget.value })}
        autosize
        minRows={4}
        maxRows={14}
      />
      <TextInput
        label={words.days}
        description={words.daysHint(isForAll ? NEWS_DAYS.everybody : NEWS_DAYS.target)}
        value={draft.days}
        inputMode="numeric"
        w={220}
        {...(areDays(draft.days) ? {} : { error: words.daysFault })}
        onChange={(event) => set({ days: event.currentTarget.value })}
      />
    </>
  );
}

/** The item as its readers will see it. */
function Preview({ draft }: { readonly draft: NewsDraft }) {
  const words = useWords(NEWS);
  const isEmpty = draft.title.trim() === "" && draft.content.trim() === "";
  return (
    <section aria-label={words.preview} className="news-preview">
      <Text size="sm" fw={600} mb={4} c="dimmed">
        {words.preview}
      </Text>
      {isEmpty ? (
        <Text size="sm" c="dimmed">
          {words.previewEmpty}
        </Text>
      ) : (
        <NewsArticle item={{ ...draft, created_at: new Date().toISOString() }} />
      )}
    </section>
  );
}
