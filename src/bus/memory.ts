// The bus within one process. It publishes frames in a microtask; no frame leaves the process.

import { type AnswerFrame, type Bus, TooLarge, Unreachable } from "./bus.ts";

const MOST = 16 * 1024 * 1024;

/** Creates a bus for this process alone. Frames have at most 16 million characters, and requests have no timeout. */
export function memoryBus(): Bus {
  const served = new Map<string, AnswerFrame>();
  const listeners = new Set<{ topic: string; handle: (topic: string, frame: string) => void }>();

  return {
    frameLengthMax: MOST,
    publicationLengthMax: MOST,
    async request(node, frame) {
      if (frame.length > MOST) throw new TooLarge(`a frame of ${frame.length} characters`);
      const handle = served.get(node);
      if (handle === undefined) throw new Unreachable(`nobody serves ${node}`);
      return handle(frame);
    },
    async serve(node, handle) {
      served.set(node, handle);
    },
    publish(topic, frame) {
      if (frame.length > MOST) throw new TooLarge(`news of ${frame.length} characters about ${topic}`);
      for (const listener of listeners) {
        if (!matches(listener.topic, topic)) continue;
        queueMicrotask(() => {
          if (listeners.has(listener)) listener.handle(topic, frame);
        });
      }
    },
    subscribe(topic, handle) {
      const listener = { topic, handle };
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onGap: () => () => {},
    connected: () => true,
    async close() {
      served.clear();
      listeners.clear();
    },
  };
}

function matches(pattern: string, topic: string): boolean {
  return pattern.endsWith(".>") ? topic.startsWith(pattern.slice(0, -1)) : pattern === topic;
}
