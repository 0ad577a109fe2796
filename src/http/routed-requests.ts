// What routes of Elysia tell of the requests that they serve, for the edge that counts and logs the responses. It remembers a
// request as long as the request lives.

import type { Refusal } from "../base/errors.ts";

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

/** What routes tell of requests while they run. */
export class RoutedRequests {
  private readonly forwarded = new WeakSet<Request>();
  private readonly calls = new WeakMap<Request, RoutedCall>();

  /** The request goes to a model, and is counted and logged there. */
  forward(request: Request): void {
    this.forwarded.add(request);
  }

  /** The request is a management call. */
  manage(request: Request, call: RoutedCall): void {
    this.calls.set(request, call);
  }

  isForwarded(request: Request): boolean {
    return this.forwarded.has(request);
  }

  callOf(request: Request): RoutedCall | undefined {
    return this.calls.get(request);
  }
}
