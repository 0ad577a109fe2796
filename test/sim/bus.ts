// The network between simulated nodes: one line per process to a bus that delays, loses, doubles and reorders frames, that
// loses answers, is parted in one direction or both, and goes down for a node without its noticing at once.
//
// Everything that arrives runs only when the process that it reaches runs. It never touches what the nodes
// keep: that is the disk's. A frame for an incarnation that is gone reaches nobody: Unreachable, as on the real bus.

import { type AnswerFrame, type Bus, TooLarge, Unreachable } from "../../src/bus/bus.ts";
import type { ProcessClock, Timeline } from "./clock.ts";
import type { BusFaults } from "./cluster-faults.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";

export interface SimLine extends Bus {
  /** No frame passes for so long; the process notices some time later, or never. */
  cut(ms: number): void;
  onGap(handle: () => void): () => void;
  connected(): boolean;
}

export interface Net {
  faults: BusFaults;
  /** A process's line, for as long as it lives. `name` stays the same over restarts. */
  plug(process: {
    readonly name: string;
    readonly clock: ProcessClock;
    readonly dead: () => boolean;
  }): SimLine;
  /** What one sends does not reach the other, for so long. */
  part(from: string, to: string, ms: number): void;
}

type Listener = (topic: string, frame: string) => void;

interface Plug {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly served: Map<string, AnswerFrame>;
  readonly listeners: Set<{ readonly topic: string; readonly receive: Listener }>;
  readonly gone: () => boolean;
  /** No frame passes; `knows`: it has been noticed. */
  state(): { readonly down: boolean; readonly knows: boolean };
}

export function createNet(parts: {
  readonly timeline: Timeline;
  readonly world: ProcessClock;
  readonly random: SimRandom;
  readonly trace: Trace;
  readonly faults: BusFaults;
}): Net {
  const { timeline, world, random, trace } = parts;
  const plugs = new Set<Plug>();
  /** `from>to`: virtual ms until which nothing passes. */
  const parted = new Map<string, number>();

  function leg(): number {
    const { latencyMs, slow, slowMs } = net.faults;
    return random.chance(slow) ? random.unit() * slowMs : random.pause(latencyMs);
  }

  const passes = (from: Plug, to: Plug) =>
    !from.state().down && !to.state().down && timeline.now() >= (parted.get(`${from.name}>${to.name}`) ?? 0);

  function lost(probability: number, what: string): boolean {
    if (!random.chance(probability)) return false;
    trace.count(`bus ${what} lost`);
    return true;
  }

  /** After the way between two processes, at the moment at which the other runs. */
  function send(from: Plug, to: Plug, arrive: () => void): void {
    if (!passes(from, to)) trace.count("bus frame cut off");
    else
      world.after(leg(), () => {
        if (passes(from, to)) to.clock.after(0, arrive);
      });
  }

  function ask(me: Plug, node: string, frame: string, ms: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const cancel = me.clock.after(ms, () =>
        reject(new Error(`no answer within ${ms} ms: executed or not`)),
      );
      const over = (end: () => void) => () => {
        cancel();
        end();
      };
      const nobody = () => reject(new Unreachable(`nobody serves ${node}`));
      const server = [...plugs].find((plug) => plug.served.has(node) && !plug.gone());
      if (server === undefined || server.state().knows) {
        if (!me.state().down) world.after(leg() + leg(), () => me.clock.after(0, over(nobody)));
        return;
      }
      const answer = (end: () => void) => {
        if (!lost(net.faults.replyLoss, "answer")) send(server, me, over(end));
      };
      const times = random.chance(net.faults.doubled) ? 2 : 1;
      for (let i = 0; i < times; i++) {
        if (lost(net.faults.loss, "request")) continue;
        send(me, server, () => {
          const handle = server.served.get(node);
          if (handle === undefined) return answer(nobody);
          executed(handle, frame).then(
            (answered) =>
              answer(() =>
                answered.length > net.faults.frameLengthMax
                  ? reject(new Error("executed, but the answer is too large"))
                  : resolve(answered),
              ),
            () => answer(() => reject(new Error("it failed: executed or not"))),
          );
        });
      }
    });
  }

  function deliver(to: Plug, topic: string, frame: string): void {
    for (const listener of to.listeners) {
      if (!matches(listener.topic, topic)) continue;
      queueMicrotask(() => {
        if (to.listeners.has(listener) && !to.gone()) listener.receive(topic, frame);
      });
    }
  }

  function plug({ name, clock, dead }: Parameters<Net["plug"]>[0]): SimLine {
    let downUntil = 0;
    let noticedAt = 0;
    let closed = false;
    const gaps = new Set<() => void>();
    const me: Plug = {
      name,
      clock,
      served: new Map(),
      listeners: new Set(),
      gone: () => closed || dead(),
      state() {
        const down = timeline.now() < downUntil;
        return { down, knows: down && timeline.now() >= noticedAt };
      },
    };
    for (const other of plugs) if (other.gone()) plugs.delete(other);
    plugs.add(me);

    return {
      get frameLengthMax() {
        return net.faults.frameLengthMax;
      },
      get publicationLengthMax() {
        return net.faults.publicationLengthMax;
      },
      connected: () => !me.state().knows,
      onGap(handle) {
        gaps.add(handle);
        return () => gaps.delete(handle);
      },
      cut(ms) {
        if (me.state().down) return;
        trace.count("bus lines cut");
        downUntil = timeline.now() + ms;
        noticedAt = timeline.now() + random.unit() * NOTICE_MS;
        if (noticedAt >= downUntil) return;
        world.after(ms, () =>
          clock.after(0, () => {
            for (const handle of gaps) handle();
          }),
        );
      },
      async request(node, frame, ms) {
        if (closed) throw new Unreachable("the bus is closed");
        if (frame.length > net.faults.frameLengthMax)
          throw new TooLarge(`a frame of ${frame.length} characters`);
        const own = me.served.get(node);
        if (own !== undefined) return own(frame);
        if (me.state().knows) throw new Unreachable("no line to the other nodes");
        return ask(me, node, frame, ms);
      },
      async serve(node, handle) {
        me.served.set(node, handle);
      },
      publish(topic, frame) {
        if (frame.length > net.faults.publicationLengthMax)
          throw new TooLarge(`news of ${frame.length} characters about ${topic}`);
        if (closed) return;
        deliver(me, topic, frame);
        for (const other of plugs) {
          if (other === me || other.gone()) continue;
          const times = random.chance(net.faults.doubled) ? 2 : 1;
          for (let i = 0; i < times; i++) {
            if (!lost(net.faults.newsLoss, "news")) send(me, other, () => deliver(other, topic, frame));
          }
        }
      },
      subscribe(topic, receive) {
        const listener = { topic, receive };
        me.listeners.add(listener);
        return () => me.listeners.delete(listener);
      },
      async close() {
        closed = true;
        plugs.delete(me);
      },
    };
  }

  const net: Net = {
    faults: parts.faults,
    plug,
    part(from, to, ms) {
      trace.count("bus partitions");
      parted.set(`${from}>${to}`, timeline.now() + ms);
    },
  };
  return net;
}

/** A broken line is noticed by pings that go unanswered: after at most so long. */
const NOTICE_MS = 4_000;

/** What is thrown at once fails as what is thrown later. */
const executed = async (handle: AnswerFrame, frame: string): Promise<string> => handle(frame);

const matches = (pattern: string, topic: string): boolean =>
  pattern.endsWith(".>") ? topic.startsWith(pattern.slice(0, -1)) : pattern === topic;
