// Limits of single models for one account: those that there are, a form that sets one, and a way to take one away.

import { Button, Group, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Account } from "../../api/accounts.ts";
import { countText } from "../../api/amount.ts";
import { useWrite } from "../../api/writes.ts";
import { ConfirmModal } from "../../components/confirm-modal.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { Section } from "../../components/section.tsx";
import { WriteForm } from "../../components/write-form.tsx";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";

const NAMES = ["rpm", "rph", "rpd", "tpm", "tph", "tpd"] as const;
type Name = (typeof NAMES)[number];

/** The figures of a model as they are typed. */
type Typed = Readonly<Partial<Record<Name, string>>>;

interface Row {
  readonly model: string;
  readonly limits: Readonly<Partial<Record<Name, number>>>;
}

/** Returns what typed figures set; null where one cannot be read, or none is there. */
function figuresOf(typed: Typed): Readonly<Partial<Record<Name, number>>> | null {
  const given = NAMES.filter((name) => (typed[name] ?? "").trim() !== "");
  if (given.length === 0 || given.some((name) => !/^\d{1,15}$/.test(typed[name]!.trim()))) return null;
  return Object.fromEntries(given.map((name) => [name, Number(typed[name])]));
}

/** The limits of models. */
export function AccountModelLimits({ account }: { readonly account: Account }) {
  const words = useWords(ACCOUNT_SETTINGS).models;
  const [chosen, setChosen] = useState<Row | null>(null);
  const [taken, setTaken] = useState<string | null>(null);
  const rows = Object.entries(account.ModelLimits as Readonly<Record<string, Row["limits"]>>).map(
    ([model, limits]) => ({ model, limits }),
  );
  return (
    <Section title={words.title}>
      <Stack gap="sm">
        <Text size="xs" c="dimmed">
          {words.about}
        </Text>
        {rows.length === 0 ? (
          <Empty text={words.empty} />
        ) : (
          <DataTable
            caption={words.title}
            columns={columnsOf(words, setChosen, setTaken)}
            rows={rows}
            keyOf={({ model }) => model}
          />
        )}
        <LimitForm
          key={chosen?.model ?? ""}
          account={account}
          start={chosen}
          onDone={() => setChosen(null)}
        />
      </Stack>
      {taken !== null && (
        <ConfirmModal
          title={words.takeTitle(taken)}
          write={{ method: "PUT", path: `/x-users/${account.ID}`, body: { ModelLimits: `-${taken}` } }}
          submit={words.take}
          onClose={() => setTaken(null)}
          onDone={() => setTaken(null)}
        >
          <Text size="sm">{words.takeAbout}</Text>
        </ConfirmModal>
      )}
    </Section>
  );
}

function columnsOf(
  words: (typeof ACCOUNT_SETTINGS)["en"]["models"],
  choose: (row: Row) => void,
  take: (model: string) => void,
): readonly Column<Row>[] {
  const figures = NAMES.map(
    (name): Column<Row> => ({
      key: name,
      title: name.toUpperCase(),
      isFigure: true,
      cell: ({ limits }) => ((limits[name] ?? 0) === 0 ? "–" : countText(limits[name]!)),
    }),
  );
  return [
    { key: "model", title: words.model, cell: ({ model }) => model },
    ...figures,
    {
      key: "acts",
      title: "",
      cell: (row) => (
        <Group gap={4} wrap="nowrap" justify="flex-end">
          <Button size="compact-xs" variant="default" onClick={() => choose(row)}>
            {words.change}
          </Button>
          <Button size="compact-xs" variant="subtle" color="red" onClick={() => take(row.model)}>
            {words.take}
          </Button>
        </Group>
      ),
    },
  ];
}

function LimitForm(props: {
  readonly account: Account;
  readonly start: Row | null;
  readonly onDone: () => void;
}) {
  const { account, start, onDone } = props;
  const words = useWords(ACCOUNT_SETTINGS).models;
  const { save } = useWords(SHELL);
  const writing = useWrite();
  const [model, setModel] = useState(start?.model ?? "");
  const [typed, setTyped] = useState<Typed>(
    Object.fromEntries(Object.entries(start?.limits ?? {}).map(([name, figure]) => [name, String(figure)])),
  );
  const figures = figuresOf(typed);
  const name = model.trim();
  // The service merges figure by figure, so a figure that is emptied would stay.
  const emptied = NAMES.filter(
    (one) => name === start?.model && start.limits[one] !== undefined && (typed[one] ?? "").trim() === "",
  );
  const isReady = name !== "" && figures !== null && emptied.length === 0;
  const body = { ModelLimits: { [name]: figures } };
  return (
    <WriteForm
      writing={writing}
      write={isReady ? { method: "PUT", path: `/x-users/${account.ID}`, body } : null}
      submit={save}
      onDone={() => {
        setModel("");
        setTyped({});
        onDone();
      }}
    >
      <SimpleGrid cols={{ base: 2, sm: 4, lg: 7 }} spacing="xs">
        <TextInput
          label={words.model}
          placeholder="gpt-4o"
          value={model}
          onChange={(event) => setModel(event.currentTarget.value)}
          autoComplete="off"
        />
        {NAMES.map((one) => (
          <TextInput
            key={one}
            label={one.toUpperCase()}
            value={typed[one] ?? ""}
            error={emptied.includes(one)}
            onChange={(event) => setTyped({ ...typed, [one]: event.currentTarget.value })}
            inputMode="numeric"
            autoComplete="off"
          />
        ))}
      </SimpleGrid>
      {emptied.length > 0 && (
        <Text size="sm" role="alert">
          {words.emptied(emptied.map((one) => one.toUpperCase()).join(", "), name)}
        </Text>
      )}
    </WriteForm>
  );
}
