// The latest requests of any outcome, which the service keeps in memory: refused and failed ones stand here and nowhere else.

import { Badge, Checkbox, Text } from "@mantine/core";
import { useAccountGet } from "../../api/account-view.ts";
import { countText } from "../../api/amount.ts";
import { Amount } from "../../components/amount.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { Empty } from "../../components/empty.tsx";
import { Time, utcText } from "../../components/time.tsx";
import { useWords } from "../../i18n/language.ts";
import { REQUESTS } from "../../i18n/requests.ts";
import type { RecentRequest } from "./known-request.ts";
import type { ChangeView, RequestsView } from "./view.ts";

/** All that the service keeps of an account. */
export const RECENT_ROWS = 200;

/** Whether the client got no answer that was paid for. */
const isRefused = ({ status }: RecentRequest): boolean => status === null || status >= 400;

/** The list of the latest requests; `onOpen` shows one. */
export function RecentRequests(props: {
  readonly view: RequestsView;
  readonly change: ChangeView;
  readonly onOpen: (request: string) => void;
}) {
  const { view, change, onOpen } = props;
  const words = useWords(REQUESTS);
  const asked = useAccountGet("requests", { size: RECENT_ROWS });
  return (
    <AskedState asked={asked} rows={12}>
      {({ requests, since, skipped }) => {
        const rows = view.refused === "" ? requests : requests.filter(isRefused);
        return (
          <>
            <Checkbox
              label={words.onlyRefused}
              checked={view.refused !== ""}
              onChange={(event) => change({ refused: event.currentTarget.checked ? "only" : "" })}
            />
            <Text size="xs" c="dimmed">
              {words.since(utcText(since))} {skipped > 0 && words.skipped(skipped)}
            </Text>
            {rows.length === 0 ? (
              <Empty text={words.emptyRecent} />
            ) : (
              <DataTable
                caption={words.recent}
                columns={columnsOf(words)}
                rows={rows}
                keyOf={({ id }) => id}
                onOpen={({ id }) => onOpen(id)}
              />
            )}
          </>
        );
      }}
    </AskedState>
  );
}

/** The main key has no number of its own; a key that is not there any more has none left. */
const keyText = (apiKey: number | null, { mainKey, goneKey }: (typeof REQUESTS)["en"]): string =>
  apiKey === null ? goneKey : apiKey === 0 ? mainKey : String(apiKey);

const columnsOf = (words: (typeof REQUESTS)["en"]): readonly Column<RecentRequest>[] => [
  { key: "at", title: words.at, cell: ({ at }) => <Time at={at} /> },
  { key: "model", title: words.model, cell: ({ model }) => model },
  {
    key: "status",
    title: words.status,
    cell: (row) => (
      <Badge color={isRefused(row) ? "red" : row.code === null ? "arbor" : "yellow"}>
        {[row.status, row.code].filter((part) => part !== null).join(" ")}
      </Badge>
    ),
  },
  { key: "path", title: words.path, isMinor: true, cell: ({ path }) => path },
  {
    ...{ key: "ms", title: words.took, isFigure: true, isMinor: true },
    cell: ({ ms }) => words.milliseconds(countText(ms)),
  },
  {
    ...{ key: "attempts", title: words.attempts, isFigure: true, isMinor: true },
    cell: ({ attempts }) => countText(attempts),
  },
  { key: "key", title: words.key, isMinor: true, cell: ({ api_key }) => keyText(api_key, words) },
  { key: "cost", title: words.cost, isFigure: true, cell: ({ cost }) => <Amount value={cost} /> },
];
