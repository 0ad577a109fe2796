// Bills by groups and by hours: what the query asks for, and the groups as JSON and as a table. The figures come from one report,
// so that groups, days and totals of an answer agree to the last digit.

import { type GroupedBill, sumOf, type UsageFigures } from "../../report/usage-bill.ts";
import type { UsageGroup, UsageGrouping } from "../../store/store.ts";
import { csvHead, csvLine } from "./bill-csv.ts";
import { usageShape } from "./bill-formats.ts";

const TAG = "tag:";

/** Returns the grouping of a query; null when it asks for none. A bill by hours without a group has one that is everything. */
export function groupingOf(group: string | undefined, isByHours: boolean): UsageGrouping | null {
  if (group === undefined) return isByHours ? { by: "all" } : null;
  if (group.startsWith(TAG)) return { by: "tag", name: group.slice(TAG.length) };
  return { by: group as "model" | "account" | "api_key" };
}

/** The groups of a bill as answers show them. */
export type ShownGroups = Pick<GroupedBill, "groups" | "hourly"> & {
  /** The names of accounts by id, where groups are accounts. */
  readonly names: ReadonlyMap<number, string>;
  /** Whether groups of several accounts stand side by side, so that an API key needs the account that has it. */
  readonly isOfAccounts: boolean;
  readonly isByHours: boolean;
};

const nameOf = ({ id, name }: UsageGroup, names: ReadonlyMap<number, string>): string =>
  name === "" && typeof id === "number" ? (names.get(id) ?? "") : name;

/** The beginning of an hour as ISO 8601. */
const hourShape = (hour: string): string => `${hour.slice(1)}:00:00.000Z`;

const groupShape = (group: UsageGroup, { names, isOfAccounts }: ShownGroups) => ({
  id: group.id,
  name: nameOf(group, names),
  ...(isOfAccounts && group.account !== undefined ? { account: group.account } : {}),
  ...usageShape(group.sums),
});

/** So many groups are written in a millisecond or two. */
const GROUPS = 500;

/** Writes the fields `groups` and `hourly` of a JSON object that has others before them. */
export async function* groupsText(shown: ShownGroups): AsyncGenerator<string> {
  yield ',"groups":[';
  yield* listText(shown, shown.groups);
  yield "]";
  if (!shown.isByHours) return;
  yield ',"hourly":[';
  let comma = "";
  for (const { hour, groups } of shown.hourly) {
    yield `${comma}{"hour":${JSON.stringify(hourShape(hour))},"groups":[`;
    yield* listText(shown, groups);
    yield "]}";
    comma = ",";
  }
  yield "]";
}

async function* listText(shown: ShownGroups, groups: readonly UsageGroup[]): AsyncGenerator<string> {
  for (let from = 0; from < groups.length; from += GROUPS) {
    const shapes = groups.slice(from, from + GROUPS).map((group) => groupShape(group, shown));
    yield `${from === 0 ? "" : ","}${JSON.stringify(shapes).slice(1, -1)}`;
    await new Promise(setImmediate);
  }
}

/** Writes the groups as a table: a row for each group, or for each hour and group, and a row of totals. */
export async function* csvByGroup(shown: ShownGroups): AsyncGenerator<string> {
  const { isByHours, hourly, groups } = shown;
  yield csvHead([...(isByHours ? ["hour"] : []), "id", "name"]);
  const tables = isByHours
    ? hourly.map(({ hour, groups: some }) => ({ first: [hourShape(hour)], some }))
    : [{ first: [], some: groups }];
  let total: UsageFigures = sumOf([]);
  for (const { first, some } of tables) {
    for (let from = 0; from < some.length; from += GROUPS) {
      const rows = some.slice(from, from + GROUPS);
      yield rows
        .map((group) => csvLine([...first, idCell(group, shown), nameOf(group, shown.names)], group.sums))
        .join("");
      total = sumOf([total, ...rows.map(({ sums }) => sums)]);
      await new Promise(setImmediate);
    }
  }
  yield csvLine(["total", ...(isByHours ? ["", ""] : [""])], total);
}

/** The number of an API key alone would stand for keys of several accounts. */
const idCell = ({ id, account }: UsageGroup, { isOfAccounts }: ShownGroups): string | number =>
  isOfAccounts && account !== undefined ? `${account}/${id}` : id;
