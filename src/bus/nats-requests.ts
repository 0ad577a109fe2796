// Requests over a connection to NATS, at both ends: those of this process to other nodes, which wait for an
// answer, and those of other nodes, which are answered here. It knows no publications and never retries.

import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { Unreachable } from "./bus.ts";
import {
  createFrameJoiner,
  type FrameJoiner,
  HEAD,
  KIND,
  reasonMessage,
  splitFrame,
} from "./frame-chunks.ts";
import type { NatsLink, NatsLinkLimits } from "./nats-connection.ts";

/** Bounds of the bus; sizes in bytes, times in milliseconds. */
export interface NatsLimits extends NatsLinkLimits {
  readonly frameBytesMax: number;
  /** Bytes of a frame in one message, below what a server takes by default (1 MB). */
  readonly partBytes: number;
  /** Requests of this process in flight; further ones are Unreachable. */
  readonly asking: number;
  /** Requests that this process is answering; further ones are Unreachable to their senders. */
  readonly answering: number;
  /** Bytes kept of incomplete frames. */
  readonly begunBytes: number;
  /** How long closing waits for requests that are being answered (ms). */
  readonly closeMs: number;
}

interface PendingRequest {
  readonly resolve: (frame: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/** The injected timer; see `Clock.after`. */
export type After = (ms: number, fn: () => void) => () => void;

/** Returns the outcome of `answer`, or rejects after `ms` milliseconds; it may have been executed then. */
export async function answerWithin(
  after: After,
  ms: number,
  answer: Promise<Uint8Array>,
): Promise<Uint8Array> {
  const late = Promise.withResolvers<never>();
  const cancel = after(ms, () => late.reject(new Error(`no answer within ${ms} ms: executed or not`)));
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    cancel();
  }
}

/** Returns how many bytes of a frame one message may hold on the connected server. */
export const partBytesOf = (nats: NatsConnection, limits: NatsLimits): number =>
  Math.min(limits.partBytes, (nats.info?.max_payload ?? limits.partBytes) - HEAD);

/** The requests of this process to other nodes. */
export class OutgoingRequests {
  private readonly pending = new Map<string, PendingRequest>();
  private readonly answers: FrameJoiner;
  private readonly inbox = `_INBOX.${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
  private count = 0;

  /** Subscribes to the answers. */
  constructor(
    private readonly link: NatsLink,
    private readonly limits: NatsLimits,
    private readonly after: After,
  ) {
    this.answers = createFrameJoiner(limits.begunBytes);
    link.nats.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => void (error ?? this.receive(message)),
    });
  }

  /** Sends a request to a subject and returns the answer; see `Bus.request`. */
  async send(subject: string, frame: Uint8Array, ms: number): Promise<Uint8Array> {
    const { link, limits, pending } = this;
    if (!link.up()) throw new Unreachable("no connection to the other nodes");
    if (pending.size >= limits.asking || !link.hasRoom()) {
      throw new Unreachable("too many requests are in flight");
    }
    const reply = `${this.inbox}.${++this.count}`;
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    pending.set(reply, { resolve, reject });
    try {
      for (const message of splitFrame(frame, partBytesOf(link.nats, limits)))
        link.send(subject, message, reply);
      return await answerWithin(this.after, ms, promise);
    } finally {
      pending.delete(reply);
      this.answers.forget(reply);
    }
  }

  /** Rejects all requests in flight; each was executed or not. */
  rejectAll(why: string): void {
    for (const { reject } of this.pending.values()) reject(new Error(`${why}: executed or not`));
  }

  private receive({ subject, data }: Msg): void {
    const waiting = this.pending.get(subject);
    if (waiting === undefined) return;
    const kind = data[0];
    if (kind !== KIND.frame) {
      waiting.reject(errorOf(kind));
      return;
    }
    const frame = this.answers.take(subject, data);
    if (frame !== undefined) waiting.resolve(frame);
  }
}

/** The requests of other nodes, which this process answers. */
export class IncomingRequests {
  private readonly frames: FrameJoiner;
  private answering = 0;

  constructor(
    private readonly link: NatsLink,
    private readonly limits: NatsLimits,
    private readonly after: After,
  ) {
    this.frames = createFrameJoiner(limits.begunBytes);
  }

  /** Answers a message by `handle` once its frame is complete. A thrown error is answered as failed. */
  async answer(handle: (frame: Uint8Array) => Promise<Uint8Array>, { reply, data }: Msg): Promise<void> {
    const { link, limits } = this;
    if (reply === undefined || data.length < HEAD) return;
    const frame = this.frames.take(reply, data);
    if (frame === undefined) return;
    if (this.answering >= limits.answering) {
      link.send(reply, reasonMessage(KIND.busy));
      return;
    }
    this.answering++;
    try {
      const answered = await handle(frame);
      if (answered.length > limits.frameBytesMax) link.send(reply, reasonMessage(KIND.tooLarge));
      else for (const part of splitFrame(answered, partBytesOf(link.nats, limits))) link.send(reply, part);
    } catch {
      link.send(reply, reasonMessage(KIND.failed));
    } finally {
      this.answering--;
    }
  }

  /** Waits until all answers are sent, for at most `closeMs`. */
  async untilAnswered(): Promise<void> {
    const { link, limits, after } = this;
    const late = Promise.withResolvers<void>();
    let isLate = false;
    const cancel = after(limits.closeMs, () => {
      isLate = true;
      late.resolve();
    });
    while (link.up() && !isLate) {
      const flushed = link.flush();
      await Promise.race([flushed, late.promise]).catch(() => {});
      if (this.answering === 0) break;
      await Promise.race([new Promise<void>((resolve) => void after(5, resolve)), late.promise]);
    }
    cancel();
  }
}

function errorOf(kind: number | undefined): Error {
  // NATS itself replies with an empty message when the node's subject has no subscriber.
  if (kind === undefined) return new Unreachable("nobody serves it");
  if (kind === KIND.busy) return new Unreachable("it takes no more requests");
  if (kind === KIND.tooLarge) return new Error("executed, but the answer is too large");
  return new Error("it failed: executed or not");
}
