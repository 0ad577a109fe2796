// The bus of a cluster, over core NATS, which stores nothing. Each incarnation of a node has its own subject,
// so a request for a process that has ended finds no subscriber and never reaches its successor. Frames
// within a process do not pass through the server.
//
// While the connection is down a request is Unreachable at once. A request that was in flight when it broke
// has an unknown outcome.

import type { Msg, Subscription } from "@nats-io/transport-node";
import { type Bus, TooLarge, Unreachable } from "./bus.ts";
import { memoryBus } from "./memory.ts";
import { openNatsLink, type RefusedSubject } from "./nats-connection.ts";
import {
  type After,
  answerWithin,
  IncomingRequests,
  messageLengthOf,
  messageText,
  type NatsLimits,
  OutgoingRequests,
} from "./nats-requests.ts";

const LIMITS: NatsLimits = {
  frameLengthMax: 16 * 1024 * 1024,
  messageBytes: 1_000_000,
  asking: 16_384,
  answering: 65_536,
  begunLength: 64 * 1024 * 1024,
  closeMs: 2_000,
  pingMs: 2_000,
  reconnectMs: 200,
  unsentLength: 32 * 1024 * 1024,
};

const SUBJECTS_MAX = 256;

/**
 * Connects to a NATS_URL; rejects when no server can be reached. `name` is the first word of every subject:
 * clusters that share servers need different names. `after` is `Clock.after`.
 */
export async function natsBus(parts: {
  readonly url: string;
  readonly name?: string;
  readonly after: After;
  /** Called with what a server does not permit; the bus is not connected then. */
  readonly refused?: (what: RefusedSubject) => void;
  readonly limits?: Partial<NatsLimits>;
}): Promise<Bus> {
  const { after, name = "arborgate" } = parts;
  const limits = { ...LIMITS, ...parts.limits };
  const local = memoryBus();
  const served = new Map<string, Subscription>();
  const gaps = new Set<() => void>();
  let isClosing = false;

  const changed = (up: boolean) => {
    if (up) for (const handle of gaps) handle();
    else outgoing.rejectAll("the connection broke");
  };
  const link = await openNatsLink(parts.url, limits, changed, parts.refused);
  const { nats } = link;
  const outgoing = new OutgoingRequests(link, limits, after);
  const incoming = new IncomingRequests(link, limits, after);
  /** The subjects of nodes that were asked lately. */
  const subjects = new Map<string, string>();
  const prefix = `${name}.news.`;

  function subjectOf(node: string): string {
    let subject = subjects.get(node);
    if (subject === undefined) {
      if (subjects.size >= SUBJECTS_MAX) subjects.clear();
      subject = `${name}.node.${subjectToken(node)}`;
      subjects.set(node, subject);
    }
    return subject;
  }

  return {
    frameLengthMax: limits.frameLengthMax,
    get publicationLengthMax() {
      return messageLengthOf(nats, limits);
    },
    connected: link.up,
    request(node, frame, ms) {
      if (isClosing) return Promise.reject(new Unreachable("the bus is closed"));
      if (frame.length > limits.frameLengthMax) {
        return Promise.reject(new TooLarge(`a frame of ${frame.length} characters`));
      }
      return served.has(node)
        ? answerWithin(after, ms, local.request(node, frame, ms))
        : outgoing.send(subjectOf(node), frame, ms);
    },
    async serve(node, handle) {
      served.get(node)?.unsubscribe();
      const callback = (error: Error | null, message: Msg) =>
        void (error ?? incoming.receive(handle, message));
      served.set(node, nats.subscribe(subjectOf(node), { callback }));
      await local.serve(node, handle);
      // Without a connection, the client subscribes as soon as it has one.
      if (link.up()) await link.flush().catch(() => {});
    },
    publish(topic, frame) {
      if (frame.length > messageLengthOf(nats, limits)) {
        throw new TooLarge(`a publication of ${frame.length} characters about ${topic}`);
      }
      if (isClosing) return;
      local.publish(topic, frame);
      if (link.hasRoom()) link.send(prefix + topic, frame);
    },
    subscribe(topic, handle) {
      const stop = local.subscribe(topic, handle);
      const subscription = nats.subscribe(prefix + topic, {
        callback: (error, message) =>
          void (error ?? handle(message.subject.slice(prefix.length), messageText(message))),
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
      if (isClosing) return;
      isClosing = true;
      for (const subscription of served.values()) subscription.unsubscribe();
      await incoming.untilAnswered();
      outgoing.rejectAll("the bus was closed");
      await local.close();
      await link.close();
    },
  };
}

/** Returns a node's name as one word of a subject. Different names give different words. */
const subjectToken = (node: string): string =>
  node.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    [...new TextEncoder().encode(character)].map((byte) => `=${byte.toString(16).padStart(2, "0")}`).join(""),
  );
