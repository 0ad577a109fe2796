// The commands that an actor has executed, and their replies. There are two kinds of entry. A command without
// a dedup id is remembered durably for 15 minutes, in its commit and in snapshots. One with a dedup id
// (charge, transfer) is remembered for seconds only, because the ledger keeps the dedup id forever.

import { SmallMap } from "../../base/small-map.ts";
import type { Reply } from "../actor.ts";

/** A command that was executed. A busy account has tens of thousands of them, so equal empty replies share one object. */
export interface ExecutedCommand {
  readonly id: string;
  readonly reply: Reply;
  /** The time that its window begins with: business time of the turn, or monotonic ms of its durable commit. */
  at: number;
  /** The command that was executed after it. */
  next: ExecutedCommand | null;
}

const NOTHING: Reply = { ok: true, body: {} };

/** Nodes' clocks may differ by this much (ms). */
const SKEW_MS = 2_000;

/**
 * Returns whether a command created at `bornAt` is certainly remembered if it was executed here since the
 * load. One created just before the load may have been executed earlier, by another clock; and a `bornAt` too
 * far ahead says nothing about the command's age. Times are wall-clock ms.
 */
export const isFresh = (bornAt: number, now: number, loadedAt: number, of: { lookupMs: number }): boolean =>
  bornAt >= Math.max(now - of.lookupMs, loadedAt + SKEW_MS) && bornAt <= now + SKEW_MS;

/**
 * The executed commands of one actor. Its maps are in the order of insertion and neither time decreases, so the
 * oldest entries come first. `dedupMs` and `recentMs` are the windows (ms) of commands without and
 * with a dedup id.
 */
export class DedupTable {
  private readonly durable = new CommandQueue();
  private readonly recent = new CommandQueue();

  constructor(private readonly windows: { readonly dedupMs: number; readonly recentMs: number }) {}

  /** Returns the reply of an executed command, or undefined when its id is unknown. */
  get(id: string): Reply | undefined {
    return (this.recent.get(id) ?? this.durable.get(id))?.reply;
  }

  /** Remembers the reply of a command without a dedup id, executed at `at`. */
  remember(id: string, reply: Reply, at: number): void {
    this.durable.add(id, reply, at);
    this.durable.forgetBefore(at - this.windows.dedupMs);
  }

  /**
   * Remembers the reply of a command whose dedup id the ledger keeps: until `committed`, and for its window
   * (monotonic) after that, because a ledger lookup in flight may have begun before its commit was stored.
   */
  rememberUntilCommitted(id: string, reply: Reply): ExecutedCommand {
    return this.recent.add(id, reply, Number.MAX_SAFE_INTEGER);
  }

  /** Starts the window of commands whose commit became durable at `mono`, monotonic ms. */
  committed(commands: readonly ExecutedCommand[], mono: number): void {
    for (const command of commands) command.at = mono;
    this.forgetOld(mono);
  }

  /**
   * Forgets commands with a dedup id whose window is over at `mono`, monotonic ms. The next commit does the
   * same; this is for an actor that makes none. The others stay: only a turn may say how late it is.
   */
  forgetOld(mono: number): void {
    this.recent.forgetUntil(mono - this.windows.recentMs);
  }

  /** Returns the entries that are kept durably, oldest first. */
  durableEntries(): { id: string; at: number; reply: Reply }[] {
    return this.durable.all().map(({ id, at, reply }) => ({ id, at, reply }));
  }
}

/**
 * Commands in the order of their execution, which is also that of their times. A list has the order, because the
 * first entry of a Map is found by passing over all that were deleted before it.
 */
class CommandQueue {
  /** Null while there is none, as in most actors at most times. */
  private byId: SmallMap<string, ExecutedCommand> | null = null;
  private first: ExecutedCommand | null = null;
  private last: ExecutedCommand | null = null;

  get(id: string): ExecutedCommand | undefined {
    return this.byId === null ? undefined : this.byId.get(id);
  }

  /** Adds a command at the end. */
  add(id: string, reply: Reply, at: number): ExecutedCommand {
    const added: ExecutedCommand = { id, reply: isNothing(reply) ? NOTHING : reply, at, next: null };
    this.byId ??= new SmallMap();
    this.byId.set(id, added);
    if (this.last === null) this.first = added;
    else this.last.next = added;
    this.last = added;
    return added;
  }

  /** Drops the commands whose time is before `time`. */
  forgetBefore(time: number): void {
    while (this.first !== null && this.first.at < time) this.dropFirst(this.first);
  }

  /** Drops the commands whose time is `time` or before it. */
  forgetUntil(time: number): void {
    while (this.first !== null && this.first.at <= time) this.dropFirst(this.first);
  }

  /** Returns the commands, oldest first. */
  all(): ExecutedCommand[] {
    const commands: ExecutedCommand[] = [];
    for (let one = this.first; one !== null; one = one.next) commands.push(one);
    return commands;
  }

  private dropFirst(first: ExecutedCommand): void {
    this.first = first.next;
    if (this.first === null) {
      this.last = null;
      this.byId = null;
    } else this.byId!.delete(first.id);
  }
}

function isNothing(reply: Reply): boolean {
  if (!reply.ok || typeof reply.body !== "object" || reply.body === null) return false;
  for (const _ in reply.body) return false;
  return true;
}
