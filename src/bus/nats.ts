// The bus of a cluster, over core NATS, which stores nothing. Each incarnation of a node has its own subject,
// so a request for a process that has ended finds no subscriber and never reaches its successor. Frames
// within a process do not pass through the server.
//
// While the connection is down a request is Unreachable at once. A request that was in flight when it broke
// has an unknown outcome.

import type { Msg, Subscription } from "@nats-io/transport-node";
import { type Bus, TooLarge, Unreachable } from "./bus.ts";
import { HEAD, joiner, KIND, splitFrame, word } from "./frame-chunks.ts";
import { memoryBus } from "./memory.ts";
import { type LineLimits, openLine } from "./nats-connection.ts";

/** Bounds of the bus; sizes in bytes, times in milliseconds. */
export interface NatsLimits extends LineLimits {
  readonly maxFrame: number;
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

const LIMITS: NatsLimits = {
  maxFrame: 16 * 1024 * 1024,
  partBytes: 512 * 1024,
  asking: 16_384,
  answering: 65_536,
  begunBytes: 64 * 1024 * 1024,
  closeMs: 2_000,
  pingMs: 2_000,
  reconnectMs: 200,
  unsentBytes: 32 * 1024 * 1024,
};

interface Asked {
  readonly resolve: (frame: Uint8Array) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Connects to a NATS_URL; rejects when no server can be reached. `name` is the first word of every subject:
 * clusters that share servers need different names. `after` is `Clock.after`.
 */
export async function natsBus(parts: {
  readonly url: string;
  readonly name?: string;
  readonly after: (ms: number, fn: () => void) => () => void;
  readonly limits?: Partial<NatsLimits>;
}): Promise<Bus> {
  const { after, name = "arborgate" } = parts;
  const limits = { ...LIMITS, ...parts.limits };
  const own = memoryBus();
  const asked = new Map<string, Asked>();
  const served = new Map<string, Subscription>();
  const gaps = new Set<() => void>();
  const frames = joiner(limits.begunBytes);
  const answers = joiner(limits.begunBytes);
  let answering = 0;
  let closing = false;
  let count = 0;

  const line = await openLine(parts.url, limits, (up) => {
    if (up) {
      for (const handle of gaps) handle();
      return;
    }
    for (const { reject } of asked.values()) reject(new Error("the line broke: executed or not"));
  });
  const { nats } = line;
  const inbox = `_INBOX.${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
  nats.subscribe(`${inbox}.*`, { callback: (error, message) => void (error ?? hear(message)) });

  const subjectOf = (node: string): string => `${name}.node.${token(node)}`;
  const prefix = `${name}.news.`;
  /** Returns how many bytes of a frame one message may hold on this server. */
  const partBytes = (): number =>
    Math.min(limits.partBytes, (nats.info?.max_payload ?? limits.partBytes) - HEAD);

  // ---- requests to other nodes

  async function within(ms: number, answer: Promise<Uint8Array>): Promise<Uint8Array> {
    const late = Promise.withResolvers<never>();
    const cancel = after(ms, () => late.reject(new Error(`no answer within ${ms} ms: executed or not`)));
    try {
      return await Promise.race([answer, late.promise]);
    } finally {
      cancel();
    }
  }

  function hear({ subject, data }: Msg): void {
    const waiting = asked.get(subject);
    if (waiting === undefined) return;
    const kind = data[0];
    if (kind !== KIND.frame) waiting.reject(whyNot(kind));
    else {
      const frame = answers.take(subject, data);
      if (frame !== undefined) waiting.resolve(frame);
    }
  }

  async function ask(node: string, frame: Uint8Array, ms: number): Promise<Uint8Array> {
    if (!line.up()) throw new Unreachable("no line to the other nodes");
    if (asked.size >= limits.asking || !line.roomy())
      throw new Unreachable("too many requests are under way");
    const reply = `${inbox}.${++count}`;
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
    asked.set(reply, { resolve, reject });
    try {
      for (const message of splitFrame(frame, partBytes())) line.send(subjectOf(node), message, reply);
      return await within(ms, promise);
    } finally {
      asked.delete(reply);
      answers.forget(reply);
    }
  }

  // ---- requests from other nodes

  async function answer(handle: (frame: Uint8Array) => Promise<Uint8Array>, message: Msg): Promise<void> {
    const { reply } = message;
    if (reply === undefined || message.data.length < HEAD) return;
    const frame = frames.take(reply, message.data);
    if (frame === undefined) return;
    if (answering >= limits.answering) return void line.send(reply, word(KIND.busy));
    answering++;
    try {
      const answered = await handle(frame);
      if (answered.length > limits.maxFrame) line.send(reply, word(KIND.tooLarge));
      else for (const part of splitFrame(answered, partBytes())) line.send(reply, part);
    } catch {
      line.send(reply, word(KIND.failed));
    } finally {
      answering--;
    }
  }

  return {
    maxFrame: limits.maxFrame,
    get maxNews() {
      return partBytes();
    },
    connected: line.up,
    async request(node, frame, ms) {
      if (closing) throw new Unreachable("the bus is closed");
      if (frame.length > limits.maxFrame) throw new TooLarge(`a frame of ${frame.length} bytes`);
      return served.has(node) ? within(ms, own.request(node, frame, ms)) : ask(node, frame, ms);
    },
    async serve(node, handle) {
      served.get(node)?.unsubscribe();
      const callback = (error: Error | null, message: Msg) => void (error ?? answer(handle, message));
      served.set(node, nats.subscribe(subjectOf(node), { callback }));
      await own.serve(node, handle);
      // Without a connection, the client subscribes as soon as it has one.
      if (line.up()) await line.flush().catch(() => {});
    },
    publish(topic, frame) {
      if (frame.length > partBytes()) throw new TooLarge(`news of ${frame.length} bytes about ${topic}`);
      if (closing) return;
      own.publish(topic, frame);
      if (line.roomy()) line.send(prefix + topic, new Uint8Array(frame));
    },
    subscribe(topic, handle) {
      const stop = own.subscribe(topic, handle);
      const subscription = nats.subscribe(prefix + topic, {
        callback: (error, message) =>
          void (error ?? handle(message.subject.slice(prefix.length), new Uint8Array(message.data))),
      });
      return () => {
        stop();
        subscription.unsubscribe();
      };
    },
    onGap(handle) {
      const gap = () => handle();
      gaps.add(gap);
      return () => void gaps.delete(gap);
    },
    async close() {
      if (closing) return;
      closing = true;
      for (const subscription of served.values()) subscription.unsubscribe();
      await quiet();
      for (const { reject } of asked.values()) reject(new Error("the bus was closed: executed or not"));
      await own.close();
      await line.close();
    },
  };

  /** Waits until all answers are on the wire, for at most `closeMs`. */
  async function quiet(): Promise<void> {
    const late = Promise.withResolvers<void>();
    const cancel = after(limits.closeMs, late.resolve);
    let over = false;
    late.promise.then(() => {
      over = true;
    });
    while (line.up() && !over) {
      const flushed = line.flush();
      await Promise.race([flushed, late.promise]).catch(() => {});
      if (answering === 0) break;
      await Promise.race([new Promise<void>((resolve) => void after(5, resolve)), late.promise]);
    }
    cancel();
  }
}

function whyNot(kind: number | undefined): Error {
  // NATS itself replies with an empty message when the node's subject has no subscriber.
  if (kind === undefined) return new Unreachable("nobody serves it");
  if (kind === KIND.busy) return new Unreachable("it takes no more requests");
  if (kind === KIND.tooLarge) return new Error("executed, but the answer is too large");
  return new Error("it failed: executed or not");
}

/** Returns a node's name as one word of a subject. Different names give different words. */
const token = (node: string): string =>
  node.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    [...new TextEncoder().encode(character)].map((byte) => `=${byte.toString(16).padStart(2, "0")}`).join(""),
  );
