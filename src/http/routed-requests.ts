// What routes of Elysia tell of the requests that they serve, for the edge that counts and logs the responses. It remembers a
// request as long as the request lives.

import type { Refusal } from "../base/errors.ts";
import type { ServerRequest } from "./server/server-request.ts";
import type { ServerResponse } from "./server/server-response.ts";

/** A management call, as far as it has come. */
export interface RoutedCall {
  readonly requestId: string;
  /** Whether refusals keep the status that a request to a model would have. */
  readonly isCharged: boolean;
  /** The caller; null before it is identified. */
  readonly knownCaller: {
    readonly profile: { readonly id: number };
    readonly key: { readonly apiKey: number };
  } | null;
  /** The code of the error that ended the request; null for none. */
  readonly refusedWith: string | null;
  /** Ends the call with a refusal. Never rejects. */
  fail(refusal: Refusal): Promise<void>;
}

/** What is known of one request. */
interface Routed {
  /** The request of the server; undefined in tests without a server. */
  source?: ServerRequest;
  /** The response of a request that went to a model. */
  answer?: ServerResponse;
  /** The management call that the request is. */
  call?: RoutedCall;
}

/** What routes tell of requests while they run. */
export class RoutedRequests {
  private readonly known = new WeakMap<Request, Routed>();

  /** Elysia gets this request for one of the server. */
  add(request: Request, source: ServerRequest): void {
    this.known.set(request, { source });
  }

  /** Returns the request of the server for which Elysia got this one; undefined in tests without a server. */
  sourceOf(request: Request): ServerRequest | undefined {
    return this.known.get(request)?.source;
  }

  /** Returns the address of the client; empty in tests without a server. */
  addressOf(request: Request): string {
    return this.sourceOf(request)?.clientAddress ?? "";
  }

  /**
   * The request went to a model, was counted and logged there, and is answered by this. Returns what a route answers then,
   * which Elysia may copy, since nobody sends it.
   */
  forwarded(request: Request, response: ServerResponse): Response {
    this.entryOf(request).answer = response;
    return new Response(null);
  }

  /** The request is a management call. */
  manage(request: Request, call: RoutedCall): void {
    this.entryOf(request).call = call;
  }

  /** Returns the response of a request that went to a model; undefined for others. */
  forwardedResponseOf(request: Request): ServerResponse | undefined {
    return this.known.get(request)?.answer;
  }

  callOf(request: Request): RoutedCall | undefined {
    return this.known.get(request)?.call;
  }

  private entryOf(request: Request): Routed {
    let entry = this.known.get(request);
    if (entry === undefined) {
      entry = {};
      this.known.set(request, entry);
    }
    return entry;
  }
}
