// A body of bytes as a call is given it. As a whole it would be copied before it is sent; in pieces it is held once.

/** Below this a copy costs less than pieces. */
const LARGE_BYTES = 1_000_000;
const PIECE_BYTES = 256 * 1024;

async function* piecesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

/** What makes a large body go in pieces, for one call; null: it goes as it is. */
export function inPieces(
  body: unknown,
): { readonly init: BunFetchRequestInit; readonly length: string } | null {
  if (!(body instanceof Uint8Array) || body.length < LARGE_BYTES) return null;
  // A connection that was at rest may turn out to be closed, and pieces cannot be sent anew.
  return {
    init: { body: piecesOf(body) as unknown as BodyInit, keepalive: false },
    length: String(body.length),
  };
}
