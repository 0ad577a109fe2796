// Sends requests over the runtime's fetch, for what our own connections do not do. It follows no redirect and uses no
// proxy.
//
// A large body of bytes is sent in pieces: fetch would copy a whole one before it sends it.

import { BytePiece } from "../base/byte-piece.ts";
import { runtimeSignal } from "../base/cancellation.ts";
import type { HeaderReader } from "../base/header-reader.ts";
import type { Transport, TransportRequest } from "./transport.ts";
import type { UpstreamBody, UpstreamResponse } from "./upstream-response.ts";

/** Creates the transport. */
export const createFetchTransport = (): Transport => ({
  async open(request) {
    const { address, port, serverName, target } = request;
    const host = address.includes(":") ? `[${address}]` : address;
    const url = `${serverName === null ? "http" : "https"}://${host}:${port}${target}`;
    return responseOf(await fetch(url, initOf(request)));
  },
  // The runtime keeps the connections and closes them by itself.
  close: () => undefined,
});

/** Returns a response of fetch in the common form. */
export const responseOf = (response: Response): UpstreamResponse => ({
  status: response.status,
  headers: decodedHeaders(response.headers),
  body: new FetchBody(response.body),
});

function initOf({
  method,
  address,
  headers,
  body,
  host,
  serverName,
  signal,
}: TransportRequest): BunFetchRequestInit {
  const pieces = inPieces(body);
  const init: BunFetchRequestInit = {
    method,
    headers: { ...headers, host },
    body: body as BodyInit | null,
    redirect: "manual",
    signal: runtimeSignal(signal),
    proxy: false,
    // Bun's own idle timeout is off, because attempt and stream have their own.
    timeout: false,
    ...(serverName === null || serverName === address ? {} : { tls: { serverName } }),
  };
  if (pieces === null) return init;
  return { ...init, ...pieces.init, headers: { ...headers, host, "content-length": pieces.length } };
}

/** The headers of a response as they hold for its body, which fetch has decoded already. */
function decodedHeaders(headers: Headers): HeaderReader {
  if (!headers.has("content-encoding")) return headers;
  const decoded = new Headers(headers);
  decoded.delete("content-encoding");
  decoded.delete("content-length");
  return decoded;
}

/** A body of fetch, or another stream of bytes. */
export class FetchBody implements UpstreamBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | null;

  constructor(body: ReadableStream<Uint8Array> | null) {
    this.#reader = body?.getReader() ?? null;
  }

  async read(): Promise<BytePiece | null> {
    const bytes = (await this.#reader?.read())?.value;
    return bytes === undefined ? null : BytePiece.of(bytes);
  }

  finish(): void {
    // Only reading on would keep the connection, for as long as the provider likes.
    this.cancel();
  }

  cancel(): void {
    // A failed cancel changes nothing: the rest is not read either way.
    this.#reader?.cancel().catch(() => undefined);
  }
}

/** Bodies below this size are sent whole: a copy costs less than pieces. */
const LARGE_BYTES = 1_000_000;
const PIECE_BYTES = 256 * 1024;

async function* piecesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

/**
 * Returns what makes fetch send a large body in pieces, for one request. Returns null if the body is sent
 * whole.
 */
export function inPieces(
  body: unknown,
): { readonly init: BunFetchRequestInit; readonly length: string } | null {
  if (!(body instanceof Uint8Array) || body.length < LARGE_BYTES) return null;
  // An idle connection may already be closed by the provider, and a body in pieces cannot be sent again.
  return {
    init: { body: piecesOf(body) as unknown as BodyInit, keepalive: false },
    length: String(body.length),
  };
}
