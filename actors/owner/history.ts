// The history of a configuration: a row per version with its changes, and the change that reverts to an older
// version. A row must never hold a secret, only whether one was set. Pure; owner.ts and the endpoints write
// and read the rows.

import type { AccountId } from "../ids.ts";
import type { ParseResult } from "../pattern.ts";
import type { ConfigChange, OwnerConfig } from "./config.ts";

/** The newest versions of each Owner that are kept. */
export const HISTORY_ROWS_MAX = 1_000;

/**
 * The changes of one version by field of the configuration. For `emailPass` the values say whether one is
 * set.
 */
export interface ConfigRow {
  readonly owner: number;
  readonly version: number;
  /** Wall-clock ms. */
  readonly at: number;
  readonly by: AccountId;
  readonly changes: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;
}

/**
 * Returns the document id of a row. Ids repeat in a ring of HISTORY_ROWS_MAX, so that a new row replaces the
 * oldest.
 */
export const rowId = ({ owner, version }: Pick<ConfigRow, "owner" | "version">): string =>
  `${owner}/${version % HISTORY_ROWS_MAX}`;

/** Returns the fields whose values differ between two versions. */
export function changesBetween(before: OwnerConfig, after: OwnerConfig): ConfigRow["changes"] {
  const fields = (Object.keys(after) as (keyof OwnerConfig)[]).filter(
    (field) => field !== "version" && !same(before[field], after[field]),
  );
  return Object.fromEntries(
    fields.map((field) => [field, { before: shownValue(before, field), after: shownValue(after, field) }]),
  );
}

const shownValue = (config: OwnerConfig, field: keyof OwnerConfig): unknown =>
  field === "emailPass" ? config.emailPass !== null : config[field];

/** Accumulates the change that reverts a configuration to an older version. */
export interface ConfigReversion {
  /** Takes the rows after the target version, newest first; other rows are ignored. */
  readonly take: (row: ConfigRow) => void;
  /** Returns the change, or a fault if a row was missing. The mail password stays, because no row has it. */
  readonly change: () => ParseResult<ConfigChange>;
}

/** Returns a reversion of `config` to `version`, to be fed with history rows. */
export function reversionTo(config: OwnerConfig, version: number): ConfigReversion {
  const isThere = Number.isInteger(version) && version >= 0 && version <= config.version;
  const change: Record<string, unknown> = {};
  /** Version of the next row that is needed. */
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

/** Deep equality of plain data; the order of an object's names does not matter. */
function same(a: unknown, b: unknown): boolean {
  // An unchanged setting is the same object.
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
