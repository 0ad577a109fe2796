// The bus within one process. It copies frames and publishes them in a microtask; no frame leaves the
// process.

import { type Bus, TooLarge, Unreachable } from "./bus.ts";

const MOST = 16 * 1024 * 1024;

/** Creates a bus for this process alone. Frames have at most 16 MB, and requests have no timeout. */
export function memoryBus(): Bus {
  const served = new Map<string, (frame: Uint8Array) => Promise<Uint8Array>>();
  const listeners = new Set<{ topic: string; handle: (topic: string, frame: Uint8Array) => void }>();

  return {
    frameBytesMax: MOST,
    publicationBytesMax: MOST,
    async request(node, frame) {
      if (frame.length > MOST) throw new TooLarge(`a frame of ${frame.length} bytes`);
      const handle = served.get(node);
      if (handle === undefined) throw new Unreachable(`nobody serves ${node}`);
      return copied(await handle(copied(frame)));
    },
    async serve(node, handle) {
      served.set(node, handle);
    },
    publish(topic, frame) {
      if (frame.length > MOST) throw new TooLarge(`news of ${frame.length} bytes about ${topic}`);
      for (const listener of listeners) {
        if (!matches(listener.topic, topic)) continue;
        const own = copied(frame);
        queueMicrotask(() => {
          if (listeners.has(listener)) listener.handle(topic, own);
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

/**
 * Copies a frame as a network would, so that the receiver may change it. (A Buffer's `slice` would share the
 * bytes.)
 */
const copied = (frame: Uint8Array): Uint8Array => new Uint8Array(frame);

function matches(pattern: string, topic: string): boolean {
  return pattern.endsWith(".>") ? topic.startsWith(pattern.slice(0, -1)) : pattern === topic;
}
