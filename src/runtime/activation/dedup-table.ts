// The commands that an actor has executed, and their replies. There are three kinds of entry. A command without
// a dedup id is remembered durably for 15 minutes, in its commit and in snapshots. One with a dedup id
// (charge, transfer) is remembered for seconds only, because the ledger keeps the dedup id forever. They have no time of their
// own, since an account may have thousands of these a second: they are forgotten by the generation. One that ran on its
// caller's stack is remembered until its commit, as almost all charges are where the account is: no copy of it can arrive
// but one that is looked up.

import { SmallMap } from "../../base/small-map.ts";
import type { Reply } from "../actor.ts";

/** A command without a dedup id that was executed. */
interface ExecutedCommand {
  readonly id: string;
  readonly reply: Reply;
  /** Business time of the turn. */
  readonly at: number;
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
 * The executed commands of one actor. `dedupMs` is the window (ms) of commands without a dedup id. Those with one are
 * remembered for at least `recentMs` after their commit, and about twice as long while the actor commits steadily.
 */
export class DedupTable {
  /** Commands without a dedup id; null while there are none, as in most actors at most times. */
  private durable: CommandQueue | null = null;
  private readonly recent: RecentReplies;

  constructor(private readonly windows: { readonly dedupMs: number; readonly recentMs: number }) {
    this.recent = new RecentReplies(windows.recentMs);
  }

  /** Returns the reply of an executed command, or undefined when its id is unknown. */
  get(id: string): Reply | undefined {
    return this.recent.get(id) ?? this.durable?.get(id)?.reply;
  }

  /** Remembers the reply of a command without a dedup id, executed at `at`. */
  remember(id: string, reply: Reply, at: number): void {
    this.durable ??= new CommandQueue();
    this.durable.add(id, reply, at);
    this.durable.forgetBefore(at - this.windows.dedupMs);
  }

  /**
   * Remembers the reply of a command whose dedup id the ledger keeps: until `forget`, or until `committed` and for its window
   * after that, because a ledger lookup in flight may have begun before its commit was stored. None can have for a command
   * that ran on its caller's stack, since no copy of it came before.
   */
  rememberUntilCommitted(id: string, reply: Reply): void {
    this.recent.add(id, reply);
  }

  /** Forgets commands whose commit became durable, and of which no copy is under way. */
  forget(ids: readonly string[]): void {
    this.recent.forget(ids);
  }

  /** Starts the window of commands whose commit became durable at `mono`, monotonic ms. */
  committed(ids: readonly string[], mono: number): void {
    this.recent.committed(ids, mono);
  }

  /**
   * Forgets commands with a dedup id whose generation is over at `mono`, monotonic ms. The next commit does the
   * same; this is for an actor that makes none. The others stay: only a turn may say how late it is.
   */
  forgetOld(mono: number): void {
    this.recent.forgetOld(mono);
  }

  /** Returns the entries that are kept durably, oldest first. */
  durableEntries(): { id: string; at: number; reply: Reply }[] {
    return this.durable?.all().map(({ id, at, reply }) => ({ id, at, reply })) ?? [];
  }
}

/**
 * Replies to commands with a dedup id: those that are not committed, and two generations of those that are. A generation
 * takes what is committed within one window; when the next one begins, the one before the last is forgotten as a whole.
 */
class RecentReplies {
  /** Not committed yet. */
  private readonly waiting = new SmallMap<string, Reply>();
  /** The generation that takes what is committed, and the one before; null while they are empty. */
  private newer: SmallMap<string, Reply> | null = null;
  private older: SmallMap<string, Reply> | null = null;
  /** Monotonic ms at which `newer` began. */
  private since = 0;

  constructor(private readonly windowMs: number) {}

  get(id: string): Reply | undefined {
    return this.waiting.get(id) ?? this.newer?.get(id) ?? this.older?.get(id);
  }

  add(id: string, reply: Reply): void {
    this.waiting.set(id, isNothing(reply) ? NOTHING : reply);
  }

  forget(ids: readonly string[]): void {
    for (const id of ids) this.waiting.delete(id);
  }

  committed(ids: readonly string[], mono: number): void {
    this.forgetOld(mono);
    if (ids.length === 0) return;
    if (this.newer === null) {
      this.newer = new SmallMap();
      this.since = mono;
    }
    for (const id of ids) {
      const reply = this.waiting.get(id);
      if (reply === undefined) continue;
      this.waiting.delete(id);
      this.newer.set(id, reply);
    }
  }

  forgetOld(mono: number): void {
    if (mono - this.since < this.windowMs) return;
    // What was committed at the very end of a generation has its window after that.
    this.older = mono - this.since < 2 * this.windowMs ? this.newer : null;
    this.newer = null;
    this.since = mono;
  }
}

/**
 * Commands in the order of their execution, which is also that of their times. A list has the order, because the
 * first entry of a Map is found by passing over all that were deleted before it.
 */
class CommandQueue {
  private readonly byId = new SmallMap<string, ExecutedCommand>();
  private first: ExecutedCommand | null = null;
  private last: ExecutedCommand | null = null;

  get(id: string): ExecutedCommand | undefined {
    return this.byId.get(id);
  }

  /** Adds a command at the end. */
  add(id: string, reply: Reply, at: number): void {
    const added: ExecutedCommand = { id, reply: isNothing(reply) ? NOTHING : reply, at, next: null };
    this.byId.set(id, added);
    if (this.last === null) this.first = added;
    else this.last.next = added;
    this.last = added;
  }

  /** Drops the commands whose time is before `time`. */
  forgetBefore(time: number): void {
    while (this.first !== null && this.first.at < time) this.dropFirst(this.first);
  }

  /** Returns the commands, oldest first. */
  all(): ExecutedCommand[] {
    const commands: ExecutedCommand[] = [];
    for (let one = this.first; one !== null; one = one.next) commands.push(one);
    return commands;
  }

  private dropFirst(first: ExecutedCommand): void {
    this.first = first.next;
    if (this.first === null) this.last = null;
    this.byId.delete(first.id);
  }
}

function isNothing(reply: Reply): boolean {
  if (!reply.ok || typeof reply.body !== "object" || reply.body === null) return false;
  for (const _ in reply.body) return false;
  return true;
}
