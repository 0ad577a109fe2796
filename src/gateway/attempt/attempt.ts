// One attempt at a provider with one key: encodes the request for it, opens the key's secret, sends the request,
// reads until there is an answer (the whole body, or the first content of a stream), classifies a failure, and
// reports to the key's Level. Until then a failure is only returned, and another key can be tried. It charges
// nothing and chooses no key. Calls, stored responses and key tests all make their attempts here.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { LevelKey } from "../../../actors/level/view.ts";
import type { Cancellation } from "../../base/cancellation.ts";
import type { Clock } from "../../base/clock.ts";
import { assert, type Refusal } from "../../base/errors.ts";
import type { ModelRequest } from "../../dialect/dialect.ts";
import { isSound } from "../../dialect/media/speech.ts";
import { readBounded } from "../../upstream/bounded-body.ts";
import { type SecretVault, UnknownSecretsKey } from "../../upstream/secret-vault.ts";
import type { Upstream, UpstreamHead, UpstreamKey } from "../../upstream/upstream.ts";
import { classify, cutBy, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { ProviderTarget } from "../codec/kept-per-key.ts";
import { codecFor } from "../codec/native-codec.ts";
import type { ProviderBody, StreamChunk, StreamEnd, StreamSource } from "../codec/provider-answer.ts";
import type { EncodeInput, ProviderExchange } from "../codec/provider-codec.ts";
import type { AttemptAnswer, Attempted } from "../context.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { AnswerFacts } from "../large-body/jobs.ts";
import { readLargeAnswer } from "../large-body/large-answer.ts";
import { encodedElsewhere } from "../large-body/large-payload.ts";
import type { LargeBodies } from "../large-body/worker-pool.ts";
import { AudioSource } from "./audio-source.ts";
import type { KeyChooser } from "./key-chooser.ts";
import type { LevelReporter } from "./level-reports.ts";
import { EventStreamSource } from "./stream-source.ts";
import { readBody, type WholeBodyRead } from "./whole-body.ts";

/** The services and time limits (ms) of an attempt. */
export interface AttemptParts {
  readonly upstream: Upstream;
  readonly vault: SecretVault;
  readonly chooser: Pick<KeyChooser, "take" | "done">;
  readonly clock: Clock;
  readonly limits: { readonly upstreamIdleMs: number; readonly upstreamFirstMs: number };
  /** Undefined for key tests, whose answers are a few words. */
  readonly largeBodies?: LargeBodies;
}

/** What one attempt sends, and how its answer is read. */
export interface AttemptInput {
  readonly attempted: Attempted;
  readonly exchange: ProviderExchange;
  readonly answers: GatewayEndpoint["answers"];
  readonly request: Pick<ModelRequest, "stream" | "includeUsage">;
  readonly requestId: string;
  /** The `system_fingerprint` to use when the provider sends none. */
  readonly fingerprint: string;
  /** Ends the attempt when it is aborted. */
  readonly abort: Cancellation;
  /** Reports to the key's Level; null when the attempt says nothing about how the key works with models. */
  readonly reporter: Pick<LevelReporter, "failed" | "succeeded"> | null;
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

type Encoded = ProviderExchange | { readonly refusal: Refusal };

/**
 * Encodes a request for a key, at once unless the request is large. Returns why it cannot be translated into the key's
 * style, where that is so. The key must serve the endpoint.
 */
export function encodeFor(
  { upstream, clock }: Pick<AttemptParts, "upstream" | "clock">,
  endpoint: GatewayEndpoint,
  key: ProviderTarget,
  request: ModelRequest,
  input: Pick<EncodeInput, "model" | "headers" | "id" | "promptTokens">,
): Encoded | Promise<Encoded> {
  const { model, headers, id, promptTokens } = input;
  const { provider, config } = key;
  const codec = codecFor(endpoint, key, model);
  if (codec === null) throw new Error("a key was chosen that does not serve the path");
  const naming = upstream.naming({ provider, config, path: codec.path, model, stream: request.stream });
  const asking = { model, naming, headers, id, now: clock.wall(), promptTokens };
  const elsewhere = encodedElsewhere(codec, key, request, asking);
  if (elsewhere === null) return codec.open(request, asking);
  return elsewhere.then((encoded) => ("refusal" in encoded ? encoded : codec.open(request, asking, encoded)));
}

/**
 * Makes one attempt. It ends when `abort` fires and by its own deadlines. Provider failures are returned, not
 * thrown. Counts the request on the key until `release` is called, or until it fails or returns a whole answer.
 * Reports a failure and a whole answer; the end of a stream is reported by whoever reads it.
 */
export const attempt = (parts: AttemptParts, input: AttemptInput): Promise<AttemptResult> =>
  new RunningAttempt(parts, input).run();

/** Bytes that are buffered before the first content (role chunks, comments). Beyond this the response head is sent. */
const HEAD_BYTES_MAX = 256 * 1024;

/** What reading an answer led to. */
type Reading = ProviderBody | UpstreamFailure;
type Secrets = Pick<UpstreamKey, "secret" | "privateKey">;

/** An attempt while it runs, and its answer afterwards. */
class RunningAttempt implements AttemptAnswer {
  readonly sinceMs: number;
  body!: ProviderBody;
  status = 0;
  private isCounted = false;

  constructor(
    private readonly parts: AttemptParts,
    private readonly input: AttemptInput,
  ) {
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
      const reading = this.read(head);
      const found = reading instanceof Promise ? await reading : reading;
      if (!("kind" in found)) return this.failed(found);
      this.body = found;
      isOpen = found.kind === "stream";
      if (!isOpen) this.input.reporter?.succeeded(this.attempted);
      return this;
    } finally {
      if (!isOpen) this.release();
    }
  }

  private failed(failure: UpstreamFailure): FailedAttempt {
    const { attempted, exchange, reporter } = this.input;
    // A report may choose by what is in flight, which does not count this attempt any more.
    this.release();
    const translated = exchange.translateFailure(failure);
    return {
      failure: translated,
      status: this.status || translated.status,
      row: rowOf(attempted, translated, this.parts.clock.mono() - this.sinceMs),
      reported: reporter?.failed(attempted, translated) ?? REPORTED,
    };
  }

  private send(key: LevelKey, { secret, privateKey }: Secrets): ReturnType<Upstream["send"]> {
    const { exchange, attempted, request, abort, requestId } = this.input;
    const { method, body, headers } = exchange.outgoing;
    const { id, level, provider, config } = key;
    const { stream } = request;
    const sending = this.parts.upstream.send({
      path: exchange.path,
      model: attempted.model,
      method,
      headers,
      body,
      stream,
      signal: abort.signal,
      requestId,
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

  /** Reads the provider's answer, whose form does not depend only on what was requested. */
  private read(head: UpstreamHead): Reading | Promise<Reading> {
    const { answers, request } = this.input;
    const type = contentTypeOf(head);
    if (answers === "sound" && isSound(type)) return this.openSound(head);
    if (!request.stream) return this.readWhole(head);
    const isEvents = /^text\/event-stream\b/i.test(type);
    // Some models answer whole although a stream was requested.
    if (answers === "words") return isEvents ? this.openStream(head) : this.readWhole(head);
    return /^application\/json/i.test(type) ? this.readUnstreamed(head) : this.openStream(head);
  }

  private readWhole(head: UpstreamHead): Reading | Promise<Reading> {
    const { abort } = this.input;
    const { clock, limits, largeBodies } = this.parts;
    const blocksFrom = largeBodies?.bytesMin ?? Number.POSITIVE_INFINITY;
    let read: WholeBodyRead | Promise<WholeBodyRead>;
    try {
      read = readBody(head.body, { clock, idleMs: limits.upstreamIdleMs, abort, blocksFrom });
    } catch (error) {
      return cutBy(abort, error);
    }
    if (!(read instanceof Promise)) return this.wholeOf(head, read);
    return read.then(
      (later) => this.wholeOf(head, later),
      (error) => cutBy(abort, error),
    );
  }

  private wholeOf(head: UpstreamHead, read: WholeBodyRead): Reading | Promise<Reading> {
    if (typeof read !== "string") return this.readLarge(head, read);
    const contentType = contentTypeOf(head);
    const answer = this.exchange.readAnswer({ text: read, contentType });
    if (answer.ok) return { kind: "whole", text: read, contentType, answer, large: null };
    return this.misread(head.scrub(read), 200);
  }

  /** Reads an answer that would hold up the event loop. */
  private async readLarge(head: UpstreamHead, blocks: readonly Uint8Array<ArrayBuffer>[]): Promise<Reading> {
    const { abort, fingerprint } = this.input;
    const { largeBodies } = this.parts;
    const { origin } = this.exchange;
    const contentType = contentTypeOf(head);
    assert(largeBodies !== undefined, "an answer comes in blocks for those who read them");
    let read: AnswerFacts;
    try {
      read = await readLargeAnswer(largeBodies, { blocks, contentType, fingerprint, origin }, abort.signal);
    } catch (error) {
      if (abort.aborted) return cutBy(abort, error);
      throw error;
    }
    if (!read.ok) return this.misread(head.scrub(read.text), 200);
    const { answer, facts, client } = read;
    return {
      kind: "whole",
      text: "",
      contentType,
      answer: { ...answer, body: null },
      large: { ...facts, client },
    };
  }

  /** Reads JSON that was sent in place of a stream: some providers send an error with status 200. */
  private async readUnstreamed(head: UpstreamHead): Promise<UpstreamFailure> {
    return this.misread(head.scrub(await readBounded(head.body, this.parts.clock)), head.status);
  }

  private openStream(head: UpstreamHead): Promise<Reading> {
    const { request, fingerprint } = this.input;
    const machine = this.exchange.stream({ includeUsage: request.includeUsage, fingerprint });
    return this.open(new EventStreamSource({ ...this.bodyParts(head), machine, scrub: head.scrub }), null);
  }

  private openSound(head: UpstreamHead): Promise<Reading> {
    const contentType = contentTypeOf(head);
    const read: ConstructorParameters<typeof AudioSource>[0]["read"] = (sound) =>
      this.exchange.readAnswer({ text: "", contentType, sound });
    return this.open(new AudioSource({ ...this.bodyParts(head), read }), contentType);
  }

  private bodyParts({ body }: UpstreamHead) {
    const { clock, limits } = this.parts;
    return { body, clock, idleMs: limits.upstreamIdleMs, abort: this.input.abort };
  }

  /** Reads until the first content. */
  private async open(source: StreamSource, contentType: string | null): Promise<Reading> {
    const bytes: Uint8Array[] = [];
    let size = 0;
    let chunk: StreamChunk;
    do {
      chunk = await source.next();
      for (const part of chunk.bytes) {
        bytes.push(part);
        size += part.byteLength;
      }
    } while (!chunk.content && chunk.end === null && size <= HEAD_BYTES_MAX);
    const failure = chunk.end === null ? null : this.failureBefore(source, chunk.end);
    if (failure === null) return { kind: "stream", source, opening: { ...chunk, bytes }, contentType };
    source.stop();
    return failure;
  }

  /** Returns the failure of a stream that ended without content, or null when the provider ended it normally. */
  private failureBefore({ machine }: StreamSource, end: StreamEnd): UpstreamFailure | null {
    if (machine.delivered) return null;
    if (end.kind === "cut") return end.signal;
    if (end.kind === "error") return this.misread(end.text, 200);
    if (machine.outcome(true) === "complete") return null;
    return { name: "empty_stream", status: 200, note: "the stream ended before it began" };
  }

  private misread(text: string, status: number): UpstreamFailure {
    return misread(text, status, this.attempted.model, this.parts.clock);
  }
}

const contentTypeOf = ({ headers }: UpstreamHead): string => headers.get("content-type") ?? "";

/** Classifies an answer with a success status that is not a valid answer, by its text. */
export const misread = (text: string, status: number, model: string, clock: Clock): UpstreamFailure =>
  classify({ status, bodyText: text.slice(0, 65_536), model, nowMs: clock.wall() });

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
