// What the stand-in remembers of the calls it got: its own true account, to hold the gateway's bill against.
// Bounded: the last ten thousand calls, or only the totals.

import type { Units, Usage } from "./answer.ts";
import type { FileSeen } from "./form.ts";
import type { Outcome } from "./score.ts";

export interface Call {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  model: string;
  /** The last four characters of the secret. */
  readonly key: string;
  /** All but the ones that hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed: JSON, or the text fields of a form; the text when it is neither. */
  readonly body: unknown;
  /** The body as it came; empty once the memory is full of younger ones. */
  bytes: Uint8Array;
  /** The files of a form. */
  readonly files: readonly FileSeen[];
  stream: boolean;
  /** Wall milliseconds. */
  readonly startedAt: number;
  /** What was sent; 0 until a head is sent. */
  status: number;
  /** Null while under way. */
  outcome: Outcome | null;
  /** The other side closed before the answer's end. */
  aborted: boolean;
  /** What was generated, delivered or not; null when nothing was (refused, never answered). */
  usage: Usage | null;
  /** What was sold by the piece, delivered or not; null as `usage` is. */
  units: Units | null;
}

export interface Totals {
  calls: number;
  /** Answers with a status other than 200. */
  refused: number;
  complete: number;
  cut: number;
  aborted: number;
  promptTokens: number;
  completionTokens: number;
}

export interface CallBook {
  readonly totals: Totals;
  add(call: Call): void;
  ended(call: Call, outcome: Outcome): void;
  list(): Call[];
  clear(): void;
}

const CALLS_MAX = 10_000;
/** Bodies as they came, of the youngest calls. */
const BYTES_MAX = 64 * 1024 * 1024;
const NO_BYTES = new Uint8Array(0);

const NO_TOTALS: Totals = {
  calls: 0,
  refused: 0,
  complete: 0,
  cut: 0,
  aborted: 0,
  promptTokens: 0,
  completionTokens: 0,
};

export function callBook(remember: boolean): CallBook {
  const ring: Call[] = [];
  let oldest = 0;
  let heldBytes = 0;
  const heldBy: Call[] = [];
  const totals = { ...NO_TOTALS };
  const hold = (call: Call) => {
    heldBy.push(call);
    heldBytes += call.bytes.length;
    while (heldBy.length > 1 && (heldBytes > BYTES_MAX || heldBy.length > CALLS_MAX)) {
      const eldest = heldBy.shift()!;
      heldBytes -= eldest.bytes.length;
      eldest.bytes = NO_BYTES;
    }
  };
  return {
    totals,
    add(call) {
      totals.calls++;
      if (!remember) return;
      hold(call);
      if (ring.length < CALLS_MAX) {
        ring.push(call);
        return;
      }
      ring[oldest] = call;
      oldest = (oldest + 1) % CALLS_MAX;
    },
    ended(call, outcome) {
      call.outcome = outcome;
      call.aborted = outcome === "aborted";
      totals[outcome]++;
      if (call.status !== 0 && call.status !== 200) totals.refused++;
      totals.promptTokens += call.usage?.prompt ?? 0;
      totals.completionTokens += call.usage?.completion ?? 0;
    },
    list: () => [...ring.slice(oldest), ...ring.slice(0, oldest)],
    clear() {
      ring.length = 0;
      oldest = 0;
      heldBy.length = 0;
      heldBytes = 0;
      Object.assign(totals, NO_TOTALS);
    },
  };
}
