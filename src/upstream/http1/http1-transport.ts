// Sends requests over our own HTTP/1.1 connections: takes an idle connection or opens one to a pinned address,
// and ends the request when its signal aborts. It follows no redirect, uses no proxy and resends nothing.

import type { Clock } from "../../base/clock.ts";
import type { Transport, TransportRequest } from "../transport.ts";
import type { UpstreamResponse } from "../upstream-response.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { decodedBody } from "./decoded-body.ts";
import type { HttpRequest } from "./exchange.ts";
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
    const { signal, body } = request;
    const encoded =
      body instanceof FormData ? await encodedForm(request, body) : encodeRequest(request, body);
    signal.throwIfAborted();
    const connection = this.#pool.takeIdle(request) ?? (await this.#pool.connect(request, signal));
    const exchange = connection.send(encoded);
    exchange.endWith(signal);
    const { status, headers } = await exchange.head;
    const coding = headers.get("content-encoding");
    if (coding === null) return { status, headers, body: exchange };
    const decoded = decodedBody(exchange, coding);
    if (decoded !== null) {
      return { status, headers: headers.without("content-encoding", "content-length"), body: decoded };
    }
    exchange.cancel();
    throw new ProtocolError("the provider used a content coding that was not asked for");
  }

  close(): void {
    this.#pool.close();
  }
}

/** A form is encoded by the runtime, which chooses its boundary. */
async function encodedForm(request: TransportRequest, form: FormData): Promise<HttpRequest> {
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "multipart/form-data";
  const headers = { ...request.headers, "content-type": type };
  return encodeRequest({ ...request, headers }, new Uint8Array(await encoded.arrayBuffer()));
}
