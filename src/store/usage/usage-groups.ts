// Adds up the groups of a bill: all usage first, then the parts that are kept apart, each of which is taken out of the rest
// (the main key, or what has no such tag). So every grouping adds up to the same total, whatever is kept apart. Each hour of
// a bill by hours is added up on its own, and the groups are those of all hours together. It reads nothing.

import type { UsageGroup, UsageGrouping, UsageReport } from "../store.ts";
import { StoredRowError } from "../stored-rows.ts";
import { OTHER, PART_KINDS, type PeriodPart } from "./usage-parts.ts";
import { type Cell, SUMS, sumsOf } from "./usage-rows.ts";

/** Groups of an answer at most; the rest of them, with the lowest costs, is one group more, `(other)`. */
const GROUPS_MAX = 10_000;
/** Groups of all hours of an answer together. */
const HOURLY_GROUPS_MAX = 50_000;
/** Groups that are added up apart at most; what comes later is part of `(other)`. */
const DISTINCT_MAX = 200_000;

/** What has no such tag. */
const NONE = "(none)";
/** The only group of a bill that is not grouped. */
const ALL = "(all)";
const MAIN_KEY = "main";

interface OpenGroup {
  readonly id: string | number;
  name: string;
  readonly account: number | null;
  readonly figures: number[];
  cost: bigint;
}

const FIGURES = 6;

/** A group on its way from the store: id, name, account or null, then the sums, the cost as text. */
export type GroupCells = readonly (Cell | null)[];

/** Groups of one period. */
class GroupSums {
  readonly #groups = new Map<string, OpenGroup>();

  /** Adds sums that begin at `cells[from]`, in the order of SUMS, to a group, or takes them away. */
  add(group: Pick<OpenGroup, "id" | "name" | "account">, cells: readonly unknown[], from: number, sign = 1) {
    const open = this.#open(group);
    if (group.name !== "") open.name = group.name;
    for (let i = 0; i < FIGURES; i++) open.figures[i]! += sign * Number(cells[from + i]);
    const cost = BigInt(cells[from + FIGURES] as Cell | bigint);
    open.cost += sign < 0 ? -cost : cost;
  }

  #open(group: Pick<OpenGroup, "id" | "name" | "account">): OpenGroup {
    const key = groupKey(group);
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    if (this.#groups.size >= DISTINCT_MAX && group.id !== OTHER) return this.#open(OTHERS);
    const made = { ...group, figures: Array<number>(FIGURES).fill(0), cost: 0n };
    this.#groups.set(key, made);
    return made;
  }

  /** The keys of the groups with the highest costs. */
  leading(max: number): ReadonlySet<string> {
    const own = this.#used().filter(({ id }) => id !== OTHER && id !== NONE);
    return new Set([...own.sort(inOrder).slice(0, max).map(groupKey), groupKey(NO_TAG)]);
  }

  /** These groups by cost, the highest first, then the rest of them as one. Groups without usage are left out. */
  rows(leading: ReadonlySet<string>): GroupCells[] {
    const rest: OpenGroup = { ...OTHERS, figures: Array<number>(FIGURES).fill(0), cost: 0n };
    const shown: OpenGroup[] = [];
    for (const group of this.#used()) {
      if (leading.has(groupKey(group))) shown.push(group);
      else {
        for (let i = 0; i < FIGURES; i++) rest.figures[i]! += group.figures[i]!;
        rest.cost += group.cost;
      }
    }
    shown.sort(inOrder);
    if (isUsed(rest)) shown.push(rest);
    return shown.map(({ id, name, account, figures, cost }) => [id, name, account, ...figures, String(cost)]);
  }

  #used(): OpenGroup[] {
    return [...this.#groups.values()].filter(isUsed);
  }
}

const NO_TAG = { id: NONE, account: null } as const;
const OTHERS = { id: OTHER, name: OTHER, account: null } as const;

const isUsed = ({ figures, cost }: OpenGroup): boolean =>
  cost !== 0n || figures.some((figure) => figure !== 0);

const groupKey = ({ id, account }: Pick<OpenGroup, "id" | "account">): string => `${account ?? ""}\n${id}`;

/** By cost, the highest first; what has no such tag comes last. */
function inOrder(a: OpenGroup, b: OpenGroup): number {
  const isLast = Number(a.id === NONE) - Number(b.id === NONE);
  if (isLast !== 0) return isLast;
  if (a.cost !== b.cost) return a.cost < b.cost ? 1 : -1;
  const [one, other] = [groupKey(a), groupKey(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Some of the groups of a report: of one hour, or of the whole (null). */
export interface GroupRows {
  readonly hour: string | null;
  readonly rows: readonly GroupCells[];
}

/** The groups of one report. */
export class UsageGroups {
  readonly #grouping: UsageGrouping;
  readonly #whole = new GroupSums();
  readonly #hours: ReadonlyMap<string, GroupSums> | null;

  /** `hours` are the hours of a bill by hours, in their order; null for one by days. */
  constructor(grouping: UsageGrouping, hours: readonly string[] | null) {
    this.#grouping = grouping;
    this.#hours = hours === null ? null : new Map(hours.map((hour) => [hour, new GroupSums()]));
  }

  /** Adds usage of an account with a model, of one hour or (null) of the days; `cells` as in `UsageAggregator.add`. */
  addUsage(
    of: { readonly hour: string | null; readonly account: number; readonly model: string },
    cells: readonly unknown[],
    from: number,
  ): void {
    this.#add(of.hour, this.#wholeGroup(of), cells, from);
  }

  /**
   * Adds the parts of an account in one hour or (null) on a day, whose usage is added by `addUsage`. They must be all that
   * have the tag in question, or the name OTHER.
   */
  addParts(hour: string | null, account: number, parts: Iterable<PeriodPart>): void {
    const grouping = this.#grouping;
    if (grouping.by === "api_key") {
      const rest = this.#wholeGroup({ account, model: "" });
      for (const part of parts) {
        if (part.kind !== PART_KINDS.apiKey) continue;
        const isOther = part.value === OTHER;
        const id = isOther ? OTHER : Number(part.value);
        const name = isOther ? OTHER : (part.label ?? "");
        this.#move(hour, rest, { id, name, account: isOther ? null : account }, part);
      }
    } else if (grouping.by === "tag") {
      const rest = this.#wholeGroup({ account, model: "" });
      for (const part of ofTag([...parts], grouping.name)) {
        this.#move(hour, rest, { id: part.value, name: part.value, account: null }, part);
      }
    }
  }

  #move(hour: string | null, from: GroupId, to: GroupId, { sums }: PeriodPart): void {
    this.#add(hour, from, sums, 0, -1);
    this.#add(hour, to, sums, 0);
  }

  #add(hour: string | null, group: GroupId, cells: readonly unknown[], from: number, sign = 1): void {
    this.#whole.add(group, cells, from, sign);
    if (hour !== null) this.#hours?.get(hour)?.add(group, cells, from, sign);
  }

  /** The group that has usage before its parts are known. */
  #wholeGroup({ account, model }: { readonly account: number; readonly model: string }): GroupId {
    switch (this.#grouping.by) {
      case "all":
        return { id: ALL, name: ALL, account: null };
      case "model":
        return { id: model, name: model, account: null };
      case "account":
        return { id: account, name: "", account: null };
      case "api_key":
        return { id: 0, name: MAIN_KEY, account };
      case "tag":
        return { id: NONE, name: NONE, account: null };
    }
  }

  /** All groups, then those of each hour. */
  rows(): Generator<GroupRows> {
    return boundedRows(this.#whole, this.#hours);
  }
}

/** The rows of groups and of their hours, no more of them than an answer may have. */
function* boundedRows(whole: GroupSums, hours: ReadonlyMap<string, GroupSums> | null): Generator<GroupRows> {
  const perHour = hours === null ? GROUPS_MAX : Math.floor(HOURLY_GROUPS_MAX / Math.max(1, hours.size));
  const leading = whole.leading(Math.min(GROUPS_MAX, perHour));
  yield { hour: null, rows: whole.rows(leading) };
  for (const [hour, sums] of hours ?? []) yield { hour, rows: sums.rows(leading) };
}

/** The groups of a report. */
export type ReportGroups = Pick<UsageReport, "groups" | "hourly">;

/** The groups of several reports over the same time, whose accounts are others. */
export class JoinedGroups {
  readonly #whole = new GroupSums();
  readonly #hours: ReadonlyMap<string, GroupSums>;

  /** `hours` are those of the reports; none for reports by days. */
  constructor(hours: readonly string[]) {
    this.#hours = new Map(hours.map((hour) => [hour, new GroupSums()]));
  }

  add({ groups, hourly }: ReportGroups): void {
    addGroups(this.#whole, groups);
    for (const { hour, groups: some } of hourly) {
      const sums = this.#hours.get(hour);
      if (sums !== undefined) addGroups(sums, some);
    }
  }

  groups(): ReportGroups {
    const [whole, ...hours] = boundedRows(this.#whole, this.#hours.size === 0 ? null : this.#hours);
    return {
      groups: whole!.rows.map(usageGroup),
      hourly: hours.map(({ hour, rows }) => ({ hour: hour!, groups: rows.map(usageGroup) })),
    };
  }
}

function addGroups(to: GroupSums, groups: readonly UsageGroup[]): void {
  for (const { id, name, account = null, sums } of groups) {
    to.add(
      { id, name, account },
      SUMS.map((sum) => sums[sum]),
      0,
    );
  }
}

type GroupId = Pick<OpenGroup, "id" | "name" | "account">;

/** The parts of a tag. Where none of its values is kept apart, it is among what is the rest of all names. */
function ofTag(parts: readonly PeriodPart[], name: string): readonly PeriodPart[] {
  const tags = parts.filter(({ kind }) => kind === PART_KINDS.tag);
  const own = tags.filter((part) => part.name === name);
  return own.length > 0 ? own : tags.filter((part) => part.name === OTHER);
}

/** Reads a group from its cells. Throws `StoredRowError` for a value of another type. */
export function usageGroup(cells: GroupCells): UsageGroup {
  const [id, name, account] = cells;
  if ((typeof id !== "string" && typeof id !== "number") || typeof name !== "string") {
    throw new StoredRowError("a group of usage cannot be read");
  }
  return { id, name, ...(typeof account === "number" ? { account } : {}), sums: sumsOf(cells, 3) };
}
