// Reads a provider's whole body, bounded in size and in silence. A small one that says its length is read at once.

import type { Clock } from "../../base/clock.ts";

/** Larger answers are refused: images in base64 fit. */
const BODY_MOST_BYTES = 64 * 1024 * 1024;
/** So much comes in one go: a larger body may come slowly and still move, which only reading it piece by piece shows. */
const AT_ONCE_BYTES = 64 * 1024;

/** The text. Throws when it is too large or breaks off; silence aborts through `abort`. */
export async function readBody(
  response: Response,
  parts: { readonly clock: Clock; readonly idleMs: number; readonly abort: AbortController },
): Promise<string> {
  const { clock, idleMs, abort } = parts;
  const late = () => abort.abort(new DOMException("the provider fell silent", "TimeoutError"));
  let stopTimer = clock.after(idleMs, late);
  try {
    // The length of a compressed body says nothing about the text.
    const plain = !response.headers.has("content-encoding");
    const stated = plain ? Number(response.headers.get("content-length") ?? Number.NaN) : Number.NaN;
    if (stated <= AT_ONCE_BYTES) return await response.text();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      stopTimer();
      stopTimer = clock.after(idleMs, late);
      bytes += chunk.byteLength;
      if (bytes > BODY_MOST_BYTES) throw new Error(`the answer has more than ${BODY_MOST_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    stopTimer();
  }
}
