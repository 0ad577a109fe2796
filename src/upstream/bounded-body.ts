// Reads the text of an answer that is not a content stream, with bounds on size and time. It classifies
// nothing; upstream-failure.ts does.

import type { Clock } from "../base/clock.ts";

const BODY_MAX = 64 * 1024;
const BODY_MS = 5_000;

/**
 * Returns the text of a body that arrives within 64 KB and 5 s, then cancels the rest. A broken body does not
 * throw.
 */
export async function readBounded(response: Response, clock: Clock): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const late = Promise.withResolvers<null>();
  const stopTimer = clock.after(BODY_MS, () => late.resolve(null));
  const decoder = new TextDecoder();
  let text = "";
  let left = BODY_MAX;
  try {
    while (left > 0) {
      const next = await Promise.race([reader.read(), late.promise]);
      if (next === null || next.done) break;
      text += decoder.decode(next.value.subarray(0, left), { stream: true });
      left -= next.value.length;
    }
  } catch (error) {
    // When the body breaks off, the status alone is enough to classify the answer.
    if (!(error instanceof Error)) throw error;
  } finally {
    stopTimer();
    // The rest is not needed, so a failed cancel is ignored.
    reader.cancel().catch(() => undefined);
  }
  return text;
}
