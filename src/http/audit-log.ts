// The operation log: one line for each administrative act, done or refused, with operator and target (contract section 5). A
// line is written before the answer of its act leaves. A line that cannot be written never fails an act; the service's own
// log reports it. Lines hold no secret: callers mask the fields that they add.

import { type AccountId, dnaBelow } from "../../actors/ids.ts";
import type { Clock } from "../base/clock.ts";
import type { Refusal } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Store } from "../store/store.ts";

/** The actions, and the type of their targets. All but the last two are done by endpoints. */
const TARGET_TYPES = {
  add_user: "user",
  update_user: "user",
  delete_user: "user",
  add_key: "key",
  update_key: "key",
  delete_key: "key",
  add_api_key: "api_key",
  update_api_key: "api_key",
  rotate_api_key: "api_key",
  delete_api_key: "api_key",
  rotate_self: "user",
  rotate_root: "user",
  auto_config: "config",
  update_config: "config",
  add_news: "news",
  delete_news: "news",
  move_clock: "config",
  auto_quota: "user",
  soft_limit_mail: "user",
} as const;

/** An action of the operation log. */
export type Action = keyof typeof TARGET_TYPES;

/** What an act was done to. */
export interface AuditTarget {
  readonly type: "user" | "key" | "api_key" | "config" | "news";
  readonly id: number;
  /** The account that an API key belongs to. */
  readonly account?: AccountId;
  /** The DNA of the account. Without it only the operator and Root see the line. */
  readonly dna?: string;
}

/** A line of the operation log. */
export interface AuditRecord {
  readonly action: Action;
  /** The account that acted. */
  readonly operator: AccountId;
  /** Null if the act was not done to one existing thing. */
  readonly subject: AuditTarget | null;
  readonly details: string;
  /** The client's address; empty if no client called. */
  readonly ip: string;
  readonly status: "success" | "failed";
}

/** Writes the operation log. */
export interface AuditLog {
  /** Writes a line while Root's LogEnable holds; with `always` also when it does not. Never rejects. */
  write(record: AuditRecord, always?: boolean): Promise<void>;
}

type Fields = Readonly<Record<string, unknown>>;

/** What a handler states about its act, for the line that follows. */
export interface AuditEntry {
  /** Sets what the act is done to. Called as soon as that is known, so that a refusal has it too. */
  setTarget(target: AuditTarget): void;
  /**
   * Adds the fields that the act changes, named and shaped as in requests, with secrets masked. `before` has their
   * former values; a field that is the same in both is left out.
   */
  addChanges(after: Fields, before?: Fields): void;
  /** Makes the line be written although the log is off: for the act that switches it. */
  writeAlways(): void;
}

/** The entry of one request while it runs. */
export interface AuditCall extends AuditEntry {
  /** Writes the line: a success, or a failure with its refusal. */
  close(refusal: Refusal | null): Promise<void>;
}

const DETAILS_MAX = 4_000;
const VALUE_MAX = 300;

/** Creates the log over a store. `enabled` resolves to Root's LogEnable. */
export function createAuditLog(parts: {
  store: Pick<Store, "putRecords">;
  clock: Clock;
  log: Log;
  nextId: () => Promise<number>;
  /** Root's LogEnable. */
  enabled: () => Promise<boolean>;
}): AuditLog {
  const { store, clock, log, nextId, enabled } = parts;
  return {
    async write({ action, operator, subject: target, details, ip, status }, always = false) {
      try {
        if (!always && !(await enabled())) return;
        const id = await nextId();
        const targetDna = target?.dna === undefined ? undefined : dnaBelow(target.dna, accountOf(target));
        const body = {
          id,
          at: clock.wall(),
          action,
          operator,
          ...(target === null ? {} : { target: target.id }),
          targetType: target?.type ?? TARGET_TYPES[action],
          ...(targetDna === undefined ? {} : { targetDna }),
          status,
          details: clipped(details, DETAILS_MAX),
          ip,
        };
        await store.putRecords([{ table: "logs", id: String(id), body }]);
      } catch (error) {
        log("warn", "operation_not_logged", { action, operator, status, error: String(error) });
      }
    },
  };
}

const accountOf = ({ account, id }: AuditTarget): AccountId => account ?? (id as AccountId);

/** Opens the entry of an act. Null means an endpoint that writes none. */
export function openAuditEntry(
  auditLog: AuditLog,
  act: { readonly action: Action; readonly operator: AccountId; readonly ip: string } | null,
): AuditCall {
  const notes: string[] = [];
  let target: AuditTarget | null = null;
  let always = false;
  return {
    setTarget(known) {
      target = known;
    },
    addChanges(after, before = {}) {
      notes.push(...changesOf(after, before));
    },
    writeAlways() {
      always = true;
    },
    async close(refusal) {
      if (act === null) return;
      const line =
        refusal === null
          ? ({ status: "success", details: notes.join("; ") } as const)
          : ({ status: "failed", details: `${refusal.code}: ${refusal.message}` } as const);
      await auditLog.write({ ...act, subject: target, ...line }, always && refusal === null);
    },
  };
}

/** Returns `Rates: 1 → 2` for each field that differs. */
function changesOf(after: Fields, before: Fields): string[] {
  return Object.entries(after).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const now = jsonText(value);
    if (!Object.hasOwn(before, name)) return [`${name}: ${clipped(now, VALUE_MAX)}`];
    const was = jsonText(before[name]);
    return was === now ? [] : [`${name}: ${clipped(was, VALUE_MAX)} → ${clipped(now, VALUE_MAX)}`];
  });
}

const jsonText = (value: unknown): string => JSON.stringify(value) ?? "null";

const clipped = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
