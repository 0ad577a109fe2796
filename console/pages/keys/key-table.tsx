// The list of an account's keys: what each may do, what it has cost, when it was last used.

import { Badge, Group, Text, UnstyledButton } from "@mantine/core";
import { useAccountView } from "../../api/account-view.ts";
import { countText, usdText } from "../../api/amount.ts";
import { utcDay } from "../../api/days.ts";
import { Amount } from "../../components/amount.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Time, utcText } from "../../components/time.tsx";
import { KEYS } from "../../i18n/keys.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { type ApiKeyRow, apiKeyStateOf, type Caller, isItself } from "./key-rights.ts";

type KeyWords = (typeof KEYS)["en"];

const COLORS = { active: "arbor", disabled: "gray", expired: "red" } as const;

/** The caps of a key as short texts, such as `5.00 a day`. */
export function capTexts(row: ApiKeyRow, words: KeyWords): readonly string[] {
  const { capOf } = words;
  return [
    ...(row.hard_limit > 0n ? [`${usdText(row.hard_limit)} / ${capOf.hard}`] : []),
    ...(row.daily_limit > 0n ? [`${usdText(row.daily_limit)} / ${capOf.daily}`] : []),
    ...(row.rpm > 0 ? [`${countText(row.rpm)} ${capOf.rpm}`] : []),
    ...(row.tpm > 0 ? [`${countText(row.tpm)} ${capOf.tpm}`] : []),
  ];
}

/** How a key stands, until when, and until when its former secret is valid. */
export function ApiKeyState({ row }: { readonly row: ApiKeyRow }) {
  const words = useWords(KEYS);
  const state = apiKeyStateOf(row, Date.now());
  const overlap = row.overlap_until;
  return (
    <Group gap={4} wrap="nowrap">
      <Badge color={COLORS[state]}>{words.is[state]}</Badge>
      {row.expires_at !== null && (
        <Text
          span
          size="xs"
          c="dimmed"
          className="figure minor"
          title={`${words.expires} ${utcText(row.expires_at)} UTC`}
        >
          → {utcText(row.expires_at).slice(0, DAY_CHARACTERS)}
        </Text>
      )}
      {overlap !== null && Date.parse(overlap) > Date.now() && (
        <Badge color="yellow">{words.overlap(`${utcText(overlap, true)} UTC`)}</Badge>
      )}
    </Group>
  );
}

const DAY_CHARACTERS = "YYYY-MM-DD".length;

/** The day of an instant; the instant itself when pointed at. */
function Day({ at }: { readonly at: string | null }) {
  if (at === null) return <Time at={null} />;
  return (
    <Text span size="sm" className="figure" title={`${utcText(at)} UTC`}>
      {utcText(at).slice(0, DAY_CHARACTERS)}
    </Text>
  );
}

/** Today in UTC, and the first day of its month, as YYYY-MM-DD. */
const periodsAt = (nowMs: number) => {
  const today = utcDay(nowMs);
  return { today, month: `${today.slice(0, 7)}-01` };
};

/** The table; `onOpen` shows one key. */
export function KeyTable(props: {
  readonly keys: readonly ApiKeyRow[];
  readonly caller: Caller;
  readonly onOpen: (row: ApiKeyRow) => void;
}) {
  const { keys, caller, onOpen } = props;
  const words = useWords(KEYS);
  const shell = useWords(SHELL);
  const { base } = useAccountView();
  const { today, month } = periodsAt(Date.now());
  const lines = (row: ApiKeyRow, from?: string) =>
    `${base}/ledger?api_key=${row.id}&type=charge${from === undefined ? "" : `&from=${from}`}`;
  const columns: readonly Column<ApiKeyRow>[] = [
    {
      key: "name",
      title: words.name,
      cell: (row) => (
        <Group gap={6} wrap="nowrap">
          <UnstyledButton fz="sm" fw={600} onClick={() => onOpen(row)} aria-label={words.open(row.name)}>
            {row.name}
          </UnstyledButton>
          {isItself(caller, row) && <Badge>{words.itself}</Badge>}
        </Group>
      ),
    },
    { key: "scopes", title: words.scopes, isMinor: true, cell: (row) => row.scopes.join(" ") },
    { key: "status", title: words.status, cell: (row) => <ApiKeyState row={row} /> },
    {
      key: "caps",
      title: words.caps,
      cell: (row) =>
        capTexts(row, words).join(" · ") || (
          <Text span size="sm" c="dimmed">
            {shell.none}
          </Text>
        ),
      isMinor: true,
    },
    {
      key: "today",
      title: words.today,
      isFigure: true,
      isMinor: true,
      cell: (row) => <Amount value={row.cost_today} to={lines(row, today)} />,
    },
    {
      key: "month",
      title: words.month,
      isFigure: true,
      isMinor: true,
      cell: (row) => <Amount value={row.cost_month} to={lines(row, month)} />,
    },
    {
      key: "total",
      title: words.total,
      isFigure: true,
      cell: (row) => <Amount value={row.cost_total} to={lines(row)} />,
    },
    {
      key: "used",
      title: words.lastUsed,
      isMinor: true,
      cell: (row) => <Day at={row.last_used_at} />,
    },
  ];
  return (
    <DataTable
      caption={shell.page.keys}
      columns={columns}
      rows={keys}
      keyOf={(row) => row.id}
      onOpen={onOpen}
    />
  );
}
