// Sends requests over our own HTTP/1.1 connections: takes an idle connection or opens one to a pinned address,
// and ends the request when its signal aborts. It follows no redirect, uses no proxy and resends nothing.

import type { Clock } from "../../base/clock.ts";
import type { Transport, TransportRequest } from "../transport.ts";
import type { UpstreamBody, UpstreamResponse } from "../upstream-response.ts";
import type { PeerAddress } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { ACCEPTED_CODINGS, decodedBody } from "./decoded-body.ts";
import { CANCELLED, type HttpExchange } from "./exchange.ts";
import { encodeRequest } from "./request-encoder.ts";
import { ProtocolError } from "./response-head.ts";

/** The transport of a node over a pool of connections of its own. */
export class Http1Transport implements Transport {
  readonly #pool: ConnectionPool;

  constructor(clock: Clock) {
    this.#pool = new ConnectionPool(clock);
  }

  /** Open connections, in use and idle. */
  get connections(): number {
    return this.#pool.size;
  }

  async open(request: TransportRequest): Promise<UpstreamResponse> {
    const { signal, body: given } = request;
    const sent = given instanceof FormData ? await encodedForm(request, given) : { ...request, body: given };
    const headers =
      "accept-encoding" in sent.headers
        ? sent.headers
        : { ...sent.headers, "accept-encoding": ACCEPTED_CODINGS };
    const { method, target, host } = request;
    const encoded = encodeRequest({ method, target, host, headers, body: sent.body });
    signal.throwIfAborted();
    const peer = peerOf(request);
    const connection = this.#pool.takeIdle(peer) ?? (await this.#pool.connect(peer, signal));
    const exchange = connection.send(encoded);
    const answer = new Http1Body(exchange, signal);
    const head = await exchange.head;
    const { status, headers: fields } = head;
    const coding = fields.get("content-encoding");
    if (coding === null) return { status, headers: fields, body: answer };
    const body = decodedBody(answer, coding);
    if (body !== null) return { status, headers: fields.without("content-encoding", "content-length"), body };
    answer.cancel();
    throw new ProtocolError("the provider used a content coding that was not asked for");
  }

  close(): void {
    this.#pool.close();
  }
}

/** The body of a response. It ends with its exchange, or when the signal of the request aborts. */
class Http1Body implements UpstreamBody {
  readonly #exchange: HttpExchange;

  constructor(exchange: HttpExchange, signal: AbortSignal) {
    this.#exchange = exchange;
    if (signal.aborted) exchange.abort(signal.reason);
    else signal.addEventListener("abort", () => exchange.abort(signal.reason), { once: true });
  }

  read(): Uint8Array | null | Promise<Uint8Array | null> {
    return this.#exchange.read();
  }

  cancel(): void {
    this.#exchange.abort(CANCELLED);
  }
}

const peerOf = ({ address, port, serverName }: TransportRequest): PeerAddress => ({
  address,
  port,
  serverName,
});

/** A form is encoded by the runtime, which chooses its boundary. */
async function encodedForm(
  { headers }: TransportRequest,
  form: FormData,
): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array }> {
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "multipart/form-data";
  return { headers: { ...headers, "content-type": type }, body: new Uint8Array(await encoded.arrayBuffer()) };
}
