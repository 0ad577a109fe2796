// What each version of a configuration changed: as rows for lists, and as the way back to an older version. A secret never
// stands in a row, only whether there was one. Pure; rows are written and read by others.

import type { AccountId } from "../ids.ts";
import type { ParseResult } from "../pattern.ts";
import type { ConfigChange, OwnerConfig } from "./config.ts";

/** Versions of each Owner that are kept, the newest ones. */
export const HISTORY_ROWS_MAX = 1_000;

/** What one version changed, under the names of the configuration's fields. Of `emailPass`: whether one is set. */
export interface ConfigRow {
  readonly owner: number;
  readonly version: number;
  /** Wall ms. */
  readonly at: number;
  readonly by: AccountId;
  readonly changes: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
}

/** Its place among the rows that are kept: a ring, so that a new row takes the place of the oldest. */
export const rowId = ({ owner, version }: Pick<ConfigRow, "owner" | "version">): string =>
  `${owner}/${version % HISTORY_ROWS_MAX}`;

/** What really differs between two versions. */
export function changesBetween(before: OwnerConfig, after: OwnerConfig): ConfigRow["changes"] {
  const fields = (Object.keys(after) as (keyof OwnerConfig)[]).filter(
    (field) => field !== "version" && !same(before[field], after[field]),
  );
  return Object.fromEntries(
    fields.map((field) => [field, { before: told(before, field), after: told(after, field) }]),
  );
}

const told = (config: OwnerConfig, field: keyof OwnerConfig): unknown =>
  field === "emailPass" ? config.emailPass !== null : config[field];

/** What leads from a configuration back to an older version of it. */
export interface ConfigReversion {
  /** Each version after that one, the newest first; others do no harm. Nothing is kept of a row but what it changed. */
  readonly take: (row: ConfigRow) => void;
  /** The password stays as it is: no row knows it. Refuses where a row is missing. */
  readonly change: () => ParseResult<ConfigChange>;
}

export function reversionTo(config: OwnerConfig, version: number): ConfigReversion {
  const isThere = Number.isInteger(version) && version >= 0 && version <= config.version;
  const change: Record<string, unknown> = {};
  /** The next row on the way. */
  let newer = config.version;
  return {
    take(row) {
      if (row.version !== newer || newer <= version) return;
      newer--;
      for (const [field, { before }] of Object.entries(row.changes)) {
        if (field !== "emailPass") change[field] = before;
      }
    },
    change() {
      if (!isThere) return { ok: false, message: `there is no version ${version}` };
      return newer > version
        ? { ok: false, message: `what version ${newer} changed is no longer kept` }
        : { ok: true, value: change };
    },
  };
}

/** Equality of plain data, in which the order of an object's names means nothing. */
function same(a: unknown, b: unknown): boolean {
  // A setting that was not touched is the very same object.
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(
      (name) =>
        Object.hasOwn(b, name) &&
        same((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
    )
  );
}
