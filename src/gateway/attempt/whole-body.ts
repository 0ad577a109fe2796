// Reads a provider's whole body within limits of size and idle time.

import type { Clock } from "../../base/clock.ts";

/** The largest answer in bytes; images in base64 fit. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;
/**
 * Bodies with a stated length up to this are read at once. A larger one may arrive slowly but steadily, which
 * only reading it chunk by chunk shows.
 */
const AT_ONCE_BYTES = 64 * 1024;

/**
 * Returns the body as text. Throws when it is too large or breaks off. Silence of `idleMs` aborts through
 * `abort`.
 */
export async function readBody(
  response: Response,
  parts: { readonly clock: Clock; readonly idleMs: number; readonly abort: AbortController },
): Promise<string> {
  const { clock, idleMs, abort } = parts;
  const late = () => abort.abort(new DOMException("the provider fell silent", "TimeoutError"));
  let stopTimer = clock.after(idleMs, late);
  try {
    // The content-length of a compressed body is not that of the text.
    const plain = !response.headers.has("content-encoding");
    const stated = plain ? Number(response.headers.get("content-length") ?? Number.NaN) : Number.NaN;
    if (stated <= AT_ONCE_BYTES) return await response.text();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      stopTimer();
      stopTimer = clock.after(idleMs, late);
      bytes += chunk.byteLength;
      if (bytes > BODY_BYTES_MAX) throw new Error(`the answer has more than ${BODY_BYTES_MAX} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString("utf8");
  } finally {
    stopTimer();
  }
}
