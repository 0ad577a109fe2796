// Reads the text of an answer that is not a content stream, with bounds on size and time. It classifies
// nothing; upstream-failure.ts does.

import { atMost, type Clock } from "../base/clock.ts";
import type { UpstreamBody } from "./upstream-response.ts";

const BODY_MAX = 64 * 1024;
const BODY_MS = 5_000;

/**
 * Returns the text of a body that arrives within 64 KB and 5 s, then cancels the rest. A broken body does not
 * throw.
 */
export async function readBounded(body: UpstreamBody, clock: Clock): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let left = BODY_MAX;
  const collect = async (): Promise<void> => {
    while (left > 0) {
      const piece = await body.read();
      if (piece === null) return;
      text += decoder.decode(piece.bytes().subarray(0, left), { stream: true });
      left -= piece.length;
    }
  };
  try {
    await atMost(clock, BODY_MS, collect());
  } catch (error) {
    // When the body breaks off, the status alone is enough to classify the answer.
    if (!(error instanceof Error)) throw error;
  } finally {
    body.cancel();
  }
  return text;
}
