// Sends requests over our own HTTP/1.1 connections: takes an idle connection or opens one to a pinned address,
// and ends the request when its signal aborts. It follows no redirect, uses no proxy and resends nothing.

import type { CancelSignal } from "../../base/cancellation.ts";
import type { Clock } from "../../base/clock.ts";
import type { Transport, TransportRequest } from "../transport.ts";
import type { UpstreamResponse } from "../upstream-response.ts";
import type { HttpConnection } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import type { HttpRequest } from "./exchange.ts";
import { encodeRequest } from "./request-encoder.ts";

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

  open(request: TransportRequest): Promise<UpstreamResponse> {
    const { body } = request;
    if (body instanceof FormData) return this.#openForm(request, body);
    try {
      return this.#send(request, encodeRequest(request, body));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #openForm(request: TransportRequest, form: FormData): Promise<UpstreamResponse> {
    return this.#send(request, await encodedForm(request, form));
  }

  /** Sends over an idle connection, or over a new one. Throws when the request is aborted already. */
  #send(request: TransportRequest, encoded: HttpRequest): Promise<UpstreamResponse> {
    request.signal.throwIfAborted();
    const idle = this.#pool.takeIdle(request);
    return idle === null ? this.#openAnew(request, encoded) : responseOn(idle, encoded, request.signal);
  }

  async #openAnew(request: TransportRequest, encoded: HttpRequest): Promise<UpstreamResponse> {
    return responseOn(await this.#pool.connect(request, request.signal), encoded, request.signal);
  }

  close(): void {
    this.#pool.close();
  }
}

/** Sends a request on a connection. Resolves with its response, and ends with `signal`. */
function responseOn(
  connection: HttpConnection,
  encoded: HttpRequest,
  signal: CancelSignal,
): Promise<UpstreamResponse> {
  const exchange = connection.send(encoded);
  exchange.endWith(signal);
  return exchange.response;
}

/** A form is encoded by the runtime, which chooses its boundary. */
async function encodedForm(request: TransportRequest, form: FormData): Promise<HttpRequest> {
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "multipart/form-data";
  const headers = { ...request.headers, "content-type": type };
  return encodeRequest({ ...request, headers }, new Uint8Array(await encoded.arrayBuffer()));
}
