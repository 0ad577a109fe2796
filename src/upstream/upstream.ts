// The contract of an upstream, which sends one attempt to a provider: it builds the URL and the headers and
// sends the body. It does not fail over to another key, choose keys or charge. `createUpstreams` combines one
// per provider_type.

import type { CancelSignal } from "../base/cancellation.ts";
import type { HeaderReader, HeaderRecord } from "../base/header-reader.ts";
import type { UpstreamFailure } from "./upstream-failure.ts";
import type { UpstreamBody } from "./upstream-response.ts";

/** The provider types; each has an adapter of the same name. */
export type ProviderType = "standard" | "cloud_a" | "cloud_b";

/** Whether the `provider_type` of a key's Config is that of a cloud. */
export const isCloud = (type: unknown): type is Exclude<ProviderType, "standard"> =>
  type === "cloud_a" || type === "cloud_b";

/** Everything on which the URL of a request depends. */
export interface Destination {
  /** The base URL of the key. */
  readonly provider: string;
  /** The key's Config without secrets. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The gateway path, such as `/v1/chat/completions`. */
  readonly path: string;
  /** The model's name after mapping, under which it is charged and limited. */
  readonly model: string;
  readonly stream: boolean;
}

/** How the request body must name the model at a destination. */
export interface ProviderModelNaming {
  /**
   * The value of the body's `model`; null means that the body must not have one, because the URL names the
   * model.
   */
  readonly model: string | null;
  /** Fields that the body must have in addition to the client's. */
  readonly add: Readonly<Record<string, string>>;
  /** Fields of the client that must be removed from the body. */
  readonly without?: readonly string[];
}

/** A provider key for one attempt, with its secrets in plain text. They are never logged, stored or published. */
export interface UpstreamKey {
  readonly id: number;
  readonly level: number;
  readonly provider: string;
  readonly secret: string;
  /** The private key of a service account; null when the key has none. */
  readonly privateKey: string | null;
  readonly config: Readonly<Record<string, unknown>>;
}

/** One attempt. */
export interface UpstreamRequest {
  readonly key: UpstreamKey;
  /** The gateway path, such as `/v1/chat/completions`. */
  readonly path: string;
  readonly model: string;
  readonly method: "POST" | "GET" | "DELETE";
  /** The client's headers that are forwarded, already filtered. */
  readonly headers: HeaderRecord;
  /** The body, with the model named as `Upstream.naming` says. */
  readonly body: string | Uint8Array | FormData | null;
  readonly stream: boolean;
  /** Ends when the client disconnects, or when a deadline passes; the reason is then named TimeoutError. */
  readonly signal: CancelSignal;
  readonly requestId: string;
  /** Whether the answer may say that the host lacks the path, which is then remembered. */
  readonly mayLackPath?: boolean;
}

/** The head of a successful response, whose body has not been read. */
export interface UpstreamHead {
  readonly ok: true;
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: UpstreamBody;
  /** Removes secrets and names from the provider's account from the text of an error in the body. */
  scrub(text: string): string;
}

/** An attempt that failed before a usable head, with its classification. */
export interface UpstreamFailureResult {
  readonly ok: false;
  readonly signal: UpstreamFailure;
}

/** Sends attempts to providers. */
export interface Upstream {
  /** Returns how the body must name the model. */
  naming(to: Destination): ProviderModelNaming;
  /** Returns the URL that `send` would call, which holds no secret, or a text that says why there is none. */
  address(to: Destination): URL | string;
  /** Whether the host of a base URL has answered within the last hour that it lacks a path for a model. */
  lacks(provider: string, path: string, model: string): boolean;
  /** Sends one attempt and waits for the response head. */
  send(attempt: UpstreamRequest): Promise<UpstreamHead | UpstreamFailureResult>;
}
