// Reads a provider's whole body within limits of size and idle time.

import type { Clock } from "../../base/clock.ts";
import type { UpstreamBody } from "../../upstream/upstream-response.ts";

/** The largest answer in bytes; images in base64 fit. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Returns the body as text. Throws when it is too large or breaks off. Silence of `idleMs` aborts through
 * `abort`.
 */
export async function readBody(
  body: UpstreamBody,
  {
    clock,
    idleMs,
    abort,
  }: { readonly clock: Clock; readonly idleMs: number; readonly abort: AbortController },
): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for (;;) {
    let piece = body.read();
    if (piece instanceof Promise) {
      const stopTimer = clock.after(idleMs, () =>
        abort.abort(new DOMException("the provider fell silent", "TimeoutError")),
      );
      piece = await piece.finally(stopTimer);
    }
    if (piece === null) break;
    bytes += piece.byteLength;
    if (bytes > BODY_BYTES_MAX) {
      body.cancel();
      throw new Error(`the answer has more than ${BODY_BYTES_MAX} bytes`);
    }
    pieces.push(piece);
  }
  return (pieces.length === 1 ? viewOf(pieces[0]!) : Buffer.concat(pieces)).toString("utf8");
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);
