// Publishes what actors decided to publish, and hands publications to subscribers. They are hints: one that is
// longer than the bus carries is replaced by an empty frame, which only says that something changed.

import type { Log } from "../base/log.ts";
import type { Bus } from "../bus/bus.ts";
import { decode, encode } from "../bus/codec.ts";
import type { Publication } from "./actor.ts";

export interface Publications {
  publish(publications: readonly Publication[]): void;
  /** As `ActorSystem.subscribe`. */
  subscribe(
    topic: string,
    handle: (topic: string, body: unknown) => void,
    changed?: (topic: string) => void,
  ): () => void;
}

/** Published in place of a body that is longer than the bus carries. No encoded body is empty. */
const CHANGED = "";

/** Creates the publications of a node over its bus. An exception of a subscriber is logged. */
export function createPublications(bus: Bus, log: Log): Publications {
  return {
    publish(publications) {
      for (const { topic, body } of publications) {
        const frame = encode(body);
        bus.publish(topic, frame.length > bus.publicationLengthMax ? CHANGED : frame);
      }
    },
    subscribe: (topic, handle, changed) =>
      bus.subscribe(topic, (at, frame) => {
        try {
          if (frame.length > 0) handle(at, decode(frame));
          else changed?.(at);
        } catch (error) {
          // The body may be a newer program's. An exception here would end all deliveries of the bus.
          log("error", "news_failed", { topic: at, error: String(error) });
        }
      }),
  };
}
