// The worker thread that counts tokens for token-worker-pool.ts. Loading its tokenizer blocks this thread
// alone for some hundred milliseconds.

import { realClock } from "../../base/clock.ts";
import { createCounter } from "./token-counter.ts";

declare const self: Worker;

const counter = createCounter({ clock: realClock() });

self.onmessage = async (message: MessageEvent<{ id: number; texts: readonly string[] }>) => {
  const { id, texts } = message.data;
  self.postMessage({ id, tokens: await counter.count(texts) });
};
