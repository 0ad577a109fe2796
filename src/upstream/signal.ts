// What a provider's failure means: one row per signal, after contract section 4 and the signal table of docs/faults.md.
// The only place that reads a provider's error; nothing of it reaches a client but what `pass` carries, cleaned.

export type SignalName =
  | "invalid_key"
  | "no_permission"
  | "model_unavailable"
  | "quota_gone"
  | "rate_limited"
  | "too_big_for_tpm"
  | "overloaded"
  | "server_error"
  | "timeout"
  | "unreachable"
  | "error_body"
  | "empty_stream"
  | "redirect"
  | "conflict"
  | "rejected"
  | "client_gone";

export interface Signal {
  readonly name: SignalName;
  /** The provider's status; 0 when there was none. */
  readonly status: number;
  /** Wall ms from now until which the key should rest, as the provider said. */
  readonly retryAfterMs?: number;
  /** The provider's own answer about the request's content, cleaned, for the client. */
  readonly pass?: {
    readonly status: number;
    readonly message: string;
    readonly type: string;
    readonly code: string;
  };
  /** One line for the log, without secrets. */
  readonly note: string;
}

/** What each signal does to the key, and whether another key may be tried. */
export const SIGNALS: Readonly<
  Record<
    SignalName,
    { readonly key: "fail" | "long" | "rest" | "pass_over" | "none"; readonly over: boolean }
  >
> = {
  invalid_key: { key: "long", over: true },
  no_permission: { key: "fail", over: true },
  model_unavailable: { key: "pass_over", over: true },
  quota_gone: { key: "long", over: true },
  rate_limited: { key: "rest", over: true },
  too_big_for_tpm: { key: "none", over: true },
  overloaded: { key: "fail", over: true },
  server_error: { key: "fail", over: true },
  timeout: { key: "fail", over: true },
  unreachable: { key: "fail", over: true },
  error_body: { key: "fail", over: true },
  empty_stream: { key: "fail", over: true },
  redirect: { key: "fail", over: true },
  conflict: { key: "none", over: true },
  rejected: { key: "none", over: false },
  client_gone: { key: "none", over: false },
};
