// Requests over a connection to NATS, at both ends: those of this process to other nodes, which wait for an
// answer, and those of other nodes, which are answered here. It knows no publications and never retries.

import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { type AnswerFrame, Unreachable } from "./bus.ts";
import { createFrameJoiner, type FrameJoiner, framePartsOf, KIND, reasonPart } from "./frame-parts.ts";
import type { NatsLink, NatsLinkLimits } from "./nats-connection.ts";
import { OutgoingMessages } from "./outgoing-messages.ts";

/** Bounds of the bus; lengths in characters (UTF-16 code units), times in milliseconds. */
export interface NatsLimits extends NatsLinkLimits {
  readonly frameLengthMax: number;
  /** Bytes of one message, below what a server takes by default (1 MB). A larger frame goes in several. */
  readonly messageBytes: number;
  /** Requests of this process in flight; further ones are Unreachable. */
  readonly asking: number;
  /** Requests that this process answers later; while there are so many, further ones are Unreachable to their senders. */
  readonly answering: number;
  /** Characters kept of incomplete frames. */
  readonly begunLength: number;
  /** How long closing waits for requests that are being answered (ms). */
  readonly closeMs: number;
}

/** The injected timer; see `Clock.after`. */
export type After = (ms: number, fn: () => void) => () => void;

/** Returns the outcome of `answer`, or rejects after `ms` milliseconds; it may have been executed then. */
export async function answerWithin(after: After, ms: number, answer: Promise<string>): Promise<string> {
  const late = Promise.withResolvers<never>();
  const cancel = after(ms, () => late.reject(lateError(ms)));
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    cancel();
  }
}

/** Bytes of a character (a UTF-16 code unit) in UTF-8, at most. */
const CHARACTER_BYTES_MAX = 3;

/** Returns how many characters a message may have on the connected server, whatever they are. */
export const messageLengthOf = (nats: NatsConnection, { messageBytes }: NatsLimits): number =>
  Math.floor(Math.min(messageBytes, nats.info?.max_payload ?? messageBytes) / CHARACTER_BYTES_MAX);

/** Returns the text of a message. */
export const messageText = ({ data }: Msg): string =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();

/** A request that waits for its answer. */
class PendingRequest {
  /** The message that carries it. */
  message = 0;
  cancelTimer: () => void = () => {};

  constructor(
    readonly resolve: (frame: string) => void,
    readonly reject: (error: Error) => void,
  ) {}
}

/** The requests of this process to other nodes. */
export class OutgoingRequests {
  private readonly pending = new Map<number, PendingRequest>();
  private readonly pieces: FrameJoiner<number>;
  private readonly inbox = `_INBOX.${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
  private readonly messages: OutgoingMessages;
  private lastId = 0;

  /** Subscribes to the answers. */
  constructor(
    private readonly link: NatsLink,
    private readonly limits: NatsLimits,
    private readonly after: After,
  ) {
    this.pieces = createFrameJoiner(limits.begunLength);
    this.messages = new OutgoingMessages(
      link,
      () => messageLengthOf(link.nats, limits),
      (number) => `${this.inbox}.${number}`,
    );
    link.nats.subscribe(`${this.inbox}.*`, {
      callback: (error, message) => void (error ?? this.receive(message)),
    });
  }

  /** Sends a request to a subject and returns the answer; see `Bus.request`. */
  send(subject: string, frame: string, ms: number): Promise<string> {
    const { link, limits, pending } = this;
    if (!link.up()) return Promise.reject(new Unreachable("no connection to the other nodes"));
    if (pending.size >= limits.asking || !link.hasRoom()) {
      return Promise.reject(new Unreachable("too many requests are in flight"));
    }
    // It wraps around after so many requests that none of them can still be pending.
    this.lastId = (this.lastId + 1) >>> 0;
    const id = this.lastId;
    return new Promise((resolve, reject) => {
      const request = new PendingRequest(resolve, reject);
      request.message = this.messages.sendFrame(subject, id, frame);
      request.cancelTimer = this.after(ms, () => this.settle(id)?.reject(lateError(ms)));
      pending.set(id, request);
    });
  }

  /** Rejects all requests in flight; each was executed or not. */
  rejectAll(why: string): void {
    for (const id of [...this.pending.keys()]) this.settle(id)?.reject(new Error(`${why}: executed or not`));
  }

  private receive(message: Msg): void {
    if (message.data.length === 0) this.rejectUndelivered(message.subject);
    for (const part of framePartsOf(messageText(message))) {
      if (!this.pending.has(part.id)) continue;
      if (part.kind !== KIND.frame) {
        this.settle(part.id)?.reject(errorOf(part.kind));
        continue;
      }
      const frame = part.count === 1 ? part.text : this.pieces.take(part.id, part);
      if (frame !== undefined) this.settle(part.id)?.resolve(frame);
    }
  }

  /** NATS itself replies with an empty message when the node's subject has no subscriber. */
  private rejectUndelivered(reply: string): void {
    const number = Number(reply.slice(this.inbox.length + 1));
    for (const [id, { message }] of this.pending) {
      if (message === number) this.settle(id)?.reject(new Unreachable("nobody serves it"));
    }
  }

  /** Takes a request out of those that wait. */
  private settle(id: number): PendingRequest | undefined {
    const request = this.pending.get(id);
    if (request === undefined) return undefined;
    this.pending.delete(id);
    this.pieces.forget(id);
    request.cancelTimer();
    return request;
  }
}

const lateError = (ms: number): Error => new Error(`no answer within ${ms} ms: executed or not`);

/** The last word of the subject of answers, where requests have the number of their message. */
const ANSWERS = "answers";

/** The requests of other nodes, which this process answers. */
export class IncomingRequests {
  private readonly pieces: FrameJoiner<string>;
  private readonly messages: OutgoingMessages;
  private answering = 0;

  constructor(
    private readonly link: NatsLink,
    private readonly limits: NatsLimits,
    private readonly after: After,
  ) {
    this.pieces = createFrameJoiner(limits.begunLength);
    this.messages = new OutgoingMessages(
      link,
      () => messageLengthOf(link.nats, limits),
      () => undefined,
    );
  }

  /** Answers the requests of a message by `handle`, each once its frame is complete. */
  receive(handle: AnswerFrame, message: Msg): void {
    const { reply } = message;
    if (reply === undefined) return;
    const sender = reply.slice(0, reply.lastIndexOf(".") + 1);
    for (const part of framePartsOf(messageText(message))) {
      const frame = part.count === 1 ? part.text : this.pieces.take(`${sender}${part.id}`, part);
      if (frame !== undefined) this.answer(handle, frame, `${sender}${ANSWERS}`, part.id);
    }
  }

  /** A thrown error is answered as failed. */
  private answer(handle: AnswerFrame, frame: string, to: string, id: number): void {
    if (this.answering >= this.limits.answering) {
      this.sendReason(to, id, KIND.busy);
      return;
    }
    let answer: string | Promise<string>;
    try {
      answer = handle(frame);
    } catch {
      this.sendReason(to, id, KIND.failed);
      return;
    }
    if (typeof answer === "string") this.send(to, id, answer);
    else this.sendLater(to, id, answer);
  }

  private sendLater(to: string, id: number, answer: Promise<string>): void {
    this.answering++;
    answer.then(
      (frame) => {
        this.answering--;
        this.send(to, id, frame);
      },
      () => {
        this.answering--;
        this.sendReason(to, id, KIND.failed);
      },
    );
  }

  private send(to: string, id: number, answer: string): void {
    if (answer.length > this.limits.frameLengthMax) {
      this.sendReason(to, id, KIND.tooLarge);
      return;
    }
    try {
      this.messages.sendFrame(to, id, answer);
    } catch {
      // The server takes messages that are too short for its pieces to be counted.
      this.sendReason(to, id, KIND.failed);
    }
  }

  private sendReason(to: string, id: number, kind: number): void {
    this.messages.sendPart(to, reasonPart(kind, id));
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

function errorOf(kind: number): Error {
  if (kind === KIND.busy) return new Unreachable("it takes no more requests");
  if (kind === KIND.tooLarge) return new Error("executed, but the answer is too large");
  return new Error("it failed: executed or not");
}
