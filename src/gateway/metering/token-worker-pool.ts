// The token counter in a worker thread, started on first use: counting never blocks the event loop, and a
// process that never counts never loads the tokenizer. If the thread fails, is late or has too much to do,
// the count is an estimate from bytes.

import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { estimateTokens, type TokenCounter } from "./token-counter.ts";

/** Milliseconds after which a count becomes an estimate, because a response waits for it. */
const LATE_MS = 10_000;
/** The number of counts in flight; further ones are estimated at once. */
const IN_FLIGHT_MAX = 200;

interface Waiting {
  readonly texts: readonly string[];
  settle(tokens: number): void;
}

/** Creates the counter. After `stop` every count is an estimate. */
export function createTokenWorkerPool(parts: { clock: Clock; log: Log }): TokenCounter & { stop(): void } {
  const { clock, log } = parts;
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let stopped = false;
  let next = 0;

  function settleAll(): void {
    for (const { texts, settle } of [...waiting.values()]) settle(byBytes(texts));
  }

  function start(): Worker {
    // Counting alone must not keep the process alive.
    const started = new Worker(new URL("./token-worker.ts", import.meta.url).href, {
      ref: false,
    } as WorkerOptions);
    started.onmessage = (message: MessageEvent<{ id: number; tokens: number }>) => {
      waiting.get(message.data.id)?.settle(message.data.tokens);
    };
    started.onerror = (event) => {
      log("error", "token_counter_failed", { error: event.message });
      worker = null;
      settleAll();
    };
    return started;
  }

  return {
    count(texts) {
      if (texts.length === 0) return Promise.resolve(0);
      if (stopped || waiting.size >= IN_FLIGHT_MAX) return Promise.resolve(byBytes(texts));
      const id = next++;
      return new Promise((resolve) => {
        const cancel = clock.after(LATE_MS, () => {
          log("warn", "token_counter_late", { texts: texts.length });
          waiting.get(id)?.settle(byBytes(texts));
        });
        const settle = (tokens: number) => {
          if (!waiting.delete(id)) return;
          cancel();
          resolve(tokens);
        };
        waiting.set(id, { texts, settle });
        worker ??= start();
        worker.postMessage({ id, texts });
      });
    },
    stop() {
      stopped = true;
      worker?.terminate();
      worker = null;
      settleAll();
    },
  };
}

const byBytes = (texts: readonly string[]): number =>
  estimateTokens({ bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) });
