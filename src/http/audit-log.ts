// The operation log: who did what to whom, one line for each administrative act, done or refused (contract section 5).
// A line is written before the answer of its act leaves, and never stands in the way of one: what cannot be written is
// told in the service's own log. No secret goes in; whoever notes a change masks it first.

import type { AccountId } from "../../actors/ids.ts";
import type { Clock } from "../base/clock.ts";
import type { Refusal } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Store } from "../store/store.ts";

/** What is written down, and to what kind of thing it is done. Of all but the last two an endpoint does it. */
const SUBJECTS = {
  add_user: "user",
  update_user: "user",
  delete_user: "user",
  add_key: "key",
  update_key: "key",
  delete_key: "key",
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

export type Action = keyof typeof SUBJECTS;

/** What an act was done to. */
export interface Subject {
  readonly type: "user" | "key" | "config" | "news";
  readonly id: number;
  /** The DNA of an account. Without it only the operator and Root see the line. */
  readonly dna?: string;
}

export interface AuditRecord {
  readonly action: Action;
  /** The account that acted. */
  readonly operator: AccountId;
  /** null: not one thing that is there. */
  readonly subject: Subject | null;
  readonly details: string;
  /** The client's address; empty: nobody called. */
  readonly ip: string;
  readonly status: "success" | "failed";
}

export interface AuditLog {
  /** Writes a line while Root's LogEnable holds; `always`: also when it does not. Never rejects. */
  write(line: AuditRecord, always?: boolean): Promise<void>;
}

type Fields = Readonly<Record<string, unknown>>;

/** What a handler says about its act, for the line that follows. */
export interface AuditEntry {
  /** What it is done to, as soon as that is known. */
  about(subject: Subject): void;
  /**
   * The fields that it changes, as they are written on the wire, secrets masked; `before`: as they were. A field that
   * is the same in both is left out. Several calls add up.
   */
  changed(after: Fields, before?: Fields): void;
  /** The line is written whatever the log's switch says: it tells who turned it. */
  insist(): void;
}

/** The line of one request while it runs. */
export interface AuditCall extends AuditEntry {
  /** Writes it: a success, or failed with what refused it. */
  close(refusal: Refusal | null): Promise<void>;
}

const DETAILS_MAX = 4_000;
const VALUE_MAX = 300;

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
    async write({ action, operator, subject, details, ip, status }, always = false) {
      try {
        if (!always && !(await enabled())) return;
        const id = await nextId();
        const place =
          subject?.type === "user" && subject.dna !== undefined ? `${subject.dna}${subject.id}.` : undefined;
        const body = {
          id,
          at: clock.wall(),
          action,
          operator,
          ...(subject === null ? {} : { target: subject.id }),
          targetType: subject?.type ?? SUBJECTS[action],
          ...(place === undefined ? {} : { targetDna: place }),
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

/** Opens the entry of an act. Null means an endpoint that writes none. */
export function openAuditEntry(
  operations: AuditLog,
  act: { readonly action: Action; readonly operator: AccountId; readonly ip: string } | null,
): AuditCall {
  const notes: string[] = [];
  let subject: Subject | null = null;
  let always = false;
  return {
    about(given) {
      subject = given;
    },
    changed(after, before = {}) {
      notes.push(...noted(after, before));
    },
    insist() {
      always = true;
    },
    async close(refusal) {
      if (act === null) return;
      const line =
        refusal === null
          ? ({ status: "success", details: notes.join("; ") } as const)
          : ({ status: "failed", details: `${refusal.code}: ${refusal.message}` } as const);
      await operations.write({ ...act, subject, ...line }, always && refusal === null);
    },
  };
}

/** `Rates: 1 → 2` for each field that differs. */
function noted(after: Fields, before: Fields): string[] {
  return Object.entries(after).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const now = shown(value);
    if (!Object.hasOwn(before, name)) return [`${name}: ${clipped(now, VALUE_MAX)}`];
    const was = shown(before[name]);
    return was === now ? [] : [`${name}: ${clipped(was, VALUE_MAX)} → ${clipped(now, VALUE_MAX)}`];
  });
}

const shown = (value: unknown): string => JSON.stringify(value) ?? "null";

const clipped = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
