// The text of an answer that is no stream of content, read within bounds, whatever the provider does. It judges nothing;
// upstream-failure.ts does.

import type { Clock } from "../base/clock.ts";

const BODY_MAX = 64 * 1024;
const BODY_MS = 5_000;

/** The text of a body, as far as it comes within 64 KB and 5 s. */
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
    // A body that breaks off still has a status, which says enough.
    if (!(error instanceof Error)) throw error;
  } finally {
    stopTimer();
    // Nobody waits for the rest, so nobody need hear that giving it up failed.
    reader.cancel().catch(() => undefined);
  }
  return text;
}
