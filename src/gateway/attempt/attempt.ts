// One attempt at a provider with one key: opens the key's secret, sends the encoded request, has the answer read
// (attempt-reader.ts), and reports to the key's Level. A failure before content has reached the client is returned, so that
// another key can be tried. It charges nothing and chooses no key. Calls, stored responses and key tests all make their attempts here.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { LevelKey } from "../../../actors/level/view.ts";
import type { Cancellation } from "../../base/cancellation.ts";
import { type SecretVault, UnknownSecretsKey } from "../../upstream/secret-vault.ts";
import type { Upstream, UpstreamKey } from "../../upstream/upstream.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { ProviderBody } from "../codec/provider-answer.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import type { AttemptAnswer, Attempted } from "../context.ts";
import type { RequestTrace } from "../request-trace.ts";
import { AttemptReader, type ReadingInput, type ReadingParts } from "./attempt-reader.ts";
import type { KeyChooser } from "./key-chooser.ts";
import type { LevelReporter } from "./level-reports.ts";

/** The services and time limits (ms) of an attempt. */
export interface AttemptParts extends ReadingParts {
  readonly upstream: Upstream;
  readonly vault: SecretVault;
  readonly chooser: Pick<KeyChooser, "take" | "done">;
  readonly limits: ReadingParts["limits"] & { readonly upstreamFirstMs: number };
}

/** What one attempt sends, and how its answer is read. */
export interface AttemptInput extends ReadingInput {
  readonly requestId: string;
  /** Reports to the key's Level; null when the attempt says nothing about how the key works with models. */
  readonly reporter: Pick<LevelReporter, "failed" | "succeeded"> | null;
  /** Whether the answer may say that the key's host lacks the path. */
  readonly mayLackPath?: boolean;
  /** The trace of the request; null where it has none. */
  readonly trace: RequestTrace | null;
}

/** An attempt that failed before it answered. */
export interface FailedAttempt {
  readonly failure: UpstreamFailure;
  /** The HTTP status of the provider; 0 when there was no response. */
  readonly status: number;
  readonly row: AttemptRow;
  /** Resolves when the Level has processed the report, or the report was lost. */
  readonly reported: Promise<void>;
}

/** The outcome of one attempt. */
export type AttemptResult = AttemptAnswer | FailedAttempt;

/** The failure of a key whose secrets were sealed with a SECRETS_KEY that is not configured. */
export const SECRETS_UNREADABLE: UpstreamFailure = {
  name: "invalid_key",
  status: 0,
  note: "no key at hand opens the secret: see SECRETS_KEY",
};

const REPORTED = Promise.resolve();

/**
 * Makes one attempt. It ends when `abort` fires and by its own deadlines. Provider failures are returned, not
 * thrown. Counts the request on the key until `release` is called, or until it fails or returns a whole answer.
 * Reports a failure and a whole answer; the end of a stream is reported by its reader.
 */
export const attempt = (parts: AttemptParts, input: AttemptInput): Promise<AttemptResult> =>
  new RunningAttempt(parts, input).run();

type Secrets = Pick<UpstreamKey, "secret" | "privateKey">;

/** An attempt while it runs, and its answer afterwards. */
class RunningAttempt extends AttemptReader<AttemptParts, AttemptInput> implements AttemptAnswer {
  readonly sinceMs: number;
  body!: ProviderBody;
  status = 0;
  firstMs = 0;
  openedMs = 0;
  private isCounted = false;

  constructor(parts: AttemptParts, input: AttemptInput) {
    super(parts, input);
    this.sinceMs = parts.clock.mono();
  }

  get attempted(): Attempted {
    return this.input.attempted;
  }

  get exchange(): ProviderExchange {
    return this.input.exchange;
  }

  get abort(): Cancellation {
    return this.input.abort;
  }

  get fingerprint(): string {
    return this.input.fingerprint;
  }

  release(): void {
    if (!this.isCounted) return;
    this.isCounted = false;
    this.parts.chooser.done(this.attempted.key.id);
  }

  /** Makes the attempt, whose answer is this object. */
  async run(): Promise<AttemptResult> {
    const { key } = this.attempted;
    const secrets = secretsOf(this.parts.vault, key);
    if (secrets === null) return this.failed(SECRETS_UNREADABLE);
    this.parts.chooser.take(key.id);
    this.isCounted = true;
    let isOpen = false;
    try {
      const head = await this.send(key, secrets);
      if (!head.ok) return this.failed(head.signal);
      this.status = head.status;
      this.firstMs = this.elapsedMs();
      const reading = this.read(head);
      const found = reading instanceof Promise ? await reading : reading;
      if (!("kind" in found)) return this.failed(found);
      this.body = found;
      isOpen = found.kind === "stream";
      this.openedMs = this.elapsedMs();
      if (isOpen) this.firstMs = this.openedMs;
      if (!isOpen) this.input.reporter?.succeeded(this.attempted);
      return this;
    } finally {
      if (!isOpen) this.release();
    }
  }

  private elapsedMs(): number {
    return this.parts.clock.mono() - this.sinceMs;
  }

  private failed(failure: UpstreamFailure): FailedAttempt {
    const { attempted, exchange, reporter } = this.input;
    // A report may choose by what is in flight, which does not count this attempt any more.
    this.release();
    const translated = exchange.translateFailure(failure);
    // The key has not failed: the next attempt asks it at another path.
    const isOfKey = failure.name !== "path_missing";
    const row = rowOf(attempted, translated, this.elapsedMs());
    this.input.trace?.attemptFailed(row);
    return {
      failure: translated,
      status: this.status || translated.status,
      row,
      reported: isOfKey ? (reporter?.failed(attempted, translated) ?? REPORTED) : REPORTED,
    };
  }

  private send(key: LevelKey, { secret, privateKey }: Secrets): ReturnType<Upstream["send"]> {
    const { exchange, attempted, request, abort, requestId, trace, mayLackPath = false } = this.input;
    const { method, body, headers } = exchange.outgoing;
    const { id, level, provider, config } = key;
    const { stream } = request;
    const traced = trace?.attemptBegan({ key, stream });
    const sending = this.parts.upstream.send({
      path: exchange.path,
      model: attempted.model,
      method,
      headers: traced === undefined ? headers : { ...headers, ...traced },
      body,
      stream,
      signal: abort.signal,
      requestId,
      mayLackPath,
      key: { id, level, provider, config, secret, privateKey },
    });
    return stream ? this.withFirstDeadline(sending) : sending;
  }

  /** Aborts the attempt when the head of a stream does not come in time. */
  private withFirstDeadline<T>(sending: Promise<T>): Promise<T> {
    const { clock, limits } = this.parts;
    const late = () => this.abort.abort(new DOMException("no head", "TimeoutError"));
    return sending.finally(clock.after(limits.upstreamFirstMs, late));
  }
}

/**
 * Opens the secrets of a key. Returns null when they were sealed with a SECRETS_KEY that is not configured;
 * the key is unusable until it is.
 */
function secretsOf(vault: SecretVault, key: LevelKey): Secrets | null {
  try {
    const privateKey = key.privateKey === undefined ? null : vault.open(key.privateKey);
    return { secret: vault.open(key.secret), privateKey };
  } catch (error) {
    if (error instanceof UnknownSecretsKey) return null;
    throw error;
  }
}

/** Returns the ledger's row of an attempt. `failure` is null for a success; `ms` is its duration. */
export const rowOf = (
  { key, model }: Attempted,
  failure: UpstreamFailure | null,
  ms: number,
  status = 200,
): AttemptRow => ({
  key: key.id,
  level: key.level,
  model,
  status: failure === null ? status : failure.status,
  signal: failure === null ? "ok" : failure.name,
  ms: Math.round(ms),
});
