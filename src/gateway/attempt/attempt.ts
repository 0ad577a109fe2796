// One attempt at a provider with one key: opens the key's secret, sends the request, and reads until there is
// an answer: the whole body, or the first content of a stream. Until then a failure is only returned, and
// another key can be tried. It charges nothing, chooses no key and reports to no Level.

import type { AttemptRow } from "../../../actors/account/state.ts";
import type { LevelKey } from "../../../actors/level/view.ts";
import type { Clock } from "../../base/clock.ts";
import type { ModelRequest, WholeAnswer } from "../../dialect/dialect.ts";
import { isSound } from "../../dialect/media/speech.ts";
import { readBounded } from "../../upstream/bounded-body.ts";
import { type SecretVault, UnknownSecretsKey } from "../../upstream/secret-vault.ts";
import type { Upstream, UpstreamHead, UpstreamKey } from "../../upstream/upstream.ts";
import { classify, cutBy, type UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { ProviderExchange } from "../codec/provider-codec.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { audioSource } from "./audio-source.ts";
import type { KeyChooser } from "./key-chooser.ts";
import { type End, type StreamChunk, type StreamSource, streamSource } from "./stream-source.ts";
import { readBody } from "./whole-body.ts";

/** The services and time limits (ms) of an attempt. */
export interface AttemptParts {
  readonly upstream: Upstream;
  readonly vault: SecretVault;
  readonly chooser: KeyChooser;
  readonly clock: Clock;
  readonly limits: { readonly upstreamIdleMs: number; readonly upstreamFirstMs: number };
}

/** What one attempt sends, and how its answer is read. */
export interface AttemptInput {
  readonly exchange: ProviderExchange;
  readonly answers: GatewayEndpoint["answers"];
  readonly request: ModelRequest;
  readonly model: string;
  readonly requestId: string;
  /** The `system_fingerprint` to use when the provider sends none. */
  readonly fingerprint: string;
}

/**
 * What the provider sent, whole or up to the first content. `contentType` is the provider's; null for a
 * stream of events.
 */
export type AttemptAnswer =
  | {
      readonly kind: "whole";
      readonly text: string;
      readonly contentType: string;
      readonly answer: Extract<WholeAnswer, { ok: true }>;
    }
  | {
      readonly kind: "stream";
      readonly source: StreamSource;
      /** `bytes` has one reader, which empties it: it can hold a megabyte that is not needed afterwards. */
      readonly opening: StreamChunk & { readonly bytes: Uint8Array[] };
      readonly contentType: string | null;
    };

/** The outcome of one attempt. */
export type AttemptResult =
  | {
      readonly ok: true;
      readonly status: number;
      readonly opened: AttemptAnswer;
      /** Ends the request's count on the key. It must be called once. */
      readonly done: () => void;
    }
  | { readonly ok: false; readonly signal: UpstreamFailure };

/**
 * Makes one attempt. It ends when `abort` fires and by its own deadlines. Provider failures are returned, not
 * thrown. Counts the request on the key until `done` is called, or until it fails or returns a whole answer.
 */
export async function attempt(
  parts: AttemptParts,
  key: LevelKey,
  sending: AttemptInput,
  abort: AbortController,
): Promise<AttemptResult> {
  const { vault, chooser } = parts;
  const secrets = secretsOf(vault, key);
  if (secrets === null) {
    return failed("invalid_key", "no key at hand opens the secret: see SECRETS_KEY");
  }
  chooser.take(key.id);
  const done = () => chooser.done(key.id);
  try {
    const head = await headOf(parts, { ...keyTargetOf(key), ...secrets }, sending, abort);
    if (!head.ok) {
      done();
      return head;
    }
    const result = await READERS[formOf(head, sending)](parts, head, sending, abort);
    if ("signal" in result) {
      done();
      return { ok: false, signal: result.signal };
    }
    if (result.kind === "whole") done();
    return { ok: true, status: head.status, opened: result, done };
  } catch (error) {
    done();
    throw error;
  }
}

async function headOf(
  { upstream, clock, limits }: AttemptParts,
  key: UpstreamKey,
  sending: AttemptInput,
  abort: AbortController,
) {
  const late = () => abort.abort(new DOMException("no head", "TimeoutError"));
  const { exchange, model, request } = sending;
  const { body, headers } = exchange.outgoing;
  const { stream } = request;
  const stopTimer = stream ? clock.after(limits.upstreamFirstMs, late) : null;
  const head = await upstream.send({
    path: exchange.path,
    model,
    method: "POST",
    headers,
    body,
    stream,
    signal: abort.signal,
    requestId: sending.requestId,
    key,
  });
  stopTimer?.();
  return head;
}

type Read = AttemptAnswer | { readonly signal: UpstreamFailure };
type Reader = (
  parts: AttemptParts,
  head: UpstreamHead,
  sending: AttemptInput,
  abort: AbortController,
) => Promise<Read>;

const READERS: Readonly<Record<"whole" | "events" | "sound" | "unstreamed", Reader>> = {
  whole: readWhole,
  events: openStream,
  sound: openSound,
  unstreamed: readUnstreamed,
};

const contentTypeOf = ({ headers }: UpstreamHead): string => headers.get("content-type") ?? "";

/** Returns the reader for the provider's answer, which does not depend only on what was requested. */
function formOf(head: UpstreamHead, { answers, request }: AttemptInput): keyof typeof READERS {
  const type = contentTypeOf(head);
  if (answers === "sound" && isSound(type)) return "sound";
  if (!request.stream) return "whole";
  const isEvents = /^text\/event-stream\b/i.test(type);
  // Some models answer whole although a stream was requested.
  if (answers === "words") return isEvents ? "events" : "whole";
  return /^application\/json/i.test(type) ? "unstreamed" : "events";
}

async function readWhole(
  { clock, limits }: AttemptParts,
  head: UpstreamHead,
  { exchange, model, request }: AttemptInput,
  abort: AbortController,
): Promise<Read> {
  let text: string;
  try {
    text = await readBody(head.response, { clock, idleMs: limits.upstreamIdleMs, abort });
  } catch (error) {
    return { signal: cutBy(abort.signal, error) };
  }
  const contentType = contentTypeOf(head);
  const answer = exchange.readAnswer({ text, contentType }, request);
  if (answer.ok) return { kind: "whole", text, contentType, answer };
  return { signal: misread(head.scrub(text), 200, model, clock) };
}

/**
 * Bytes that are buffered before the first content (role chunks, comments). Beyond this the response head is
 * sent.
 */
const HEAD_BYTES_MAX = 256 * 1024;

/** Reads JSON that was sent in place of a stream: some providers send an error with status 200. */
async function readUnstreamed(
  { clock }: AttemptParts,
  head: UpstreamHead,
  { model }: AttemptInput,
): Promise<Read> {
  const text = head.scrub(await readBounded(head.response, clock));
  return { signal: misread(text, head.status, model, clock) };
}

const bodyOf = ({ response }: UpstreamHead): ReadableStream<Uint8Array> =>
  response.body ?? new ReadableStream<Uint8Array>({ start: (c) => c.close() });

function openStream(
  { clock, limits }: AttemptParts,
  head: UpstreamHead,
  { exchange, request, fingerprint, model }: AttemptInput,
  abort: AbortController,
): Promise<Read> {
  const source = streamSource({
    body: bodyOf(head),
    machine: exchange.stream({ includeUsage: request.includeUsage, fingerprint }),
    clock,
    idleMs: limits.upstreamIdleMs,
    abort,
    scrub: head.scrub,
  });
  return opening(source, null, model, clock);
}

function openSound(
  { clock, limits }: AttemptParts,
  head: UpstreamHead,
  { exchange, request, model }: AttemptInput,
  abort: AbortController,
): Promise<Read> {
  const contentType = contentTypeOf(head);
  const source = audioSource({
    body: bodyOf(head),
    read: (sound) => exchange.readAnswer({ text: "", contentType, sound }, request),
    clock,
    idleMs: limits.upstreamIdleMs,
    abort,
  });
  return opening(source, contentType, model, clock);
}

async function opening(
  source: StreamSource,
  contentType: string | null,
  model: string,
  clock: Clock,
): Promise<Read> {
  const opening = await untilContent(source);
  const signal = opening.end === null ? null : failedBefore(source, opening.end, model, clock);
  if (signal === null) return { kind: "stream", source, opening, contentType };
  source.stop();
  return { signal };
}

async function untilContent(source: StreamSource): Promise<StreamChunk & { readonly bytes: Uint8Array[] }> {
  const bytes: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const batch = await source.next();
    for (const part of batch.bytes) {
      bytes.push(part);
      size += part.byteLength;
    }
    if (batch.content || batch.end !== null || size > HEAD_BYTES_MAX) return { ...batch, bytes };
  }
}

/**
 * Returns the failure of a stream that ended without content, or null when the provider ended it normally.
 */
function failedBefore(source: StreamSource, end: End, model: string, clock: Clock): UpstreamFailure | null {
  if (source.machine.delivered) return null;
  if (end.kind === "cut") return end.signal;
  if (end.kind === "error") return misread(end.text, 200, model, clock);
  if (source.machine.outcome(true) === "complete") return null;
  return { name: "empty_stream", status: 200, note: "the stream ended before it began" };
}

/** Classifies an answer with a success status that is not a valid answer, by its text. */
export const misread = (text: string, status: number, model: string, clock: Clock): UpstreamFailure =>
  classify({ status, bodyText: text.slice(0, 65_536), model, nowMs: clock.wall() });

/** Returns what an upstream request needs of a key, without its secrets. */
export const keyTargetOf = ({ id, level, provider, config }: LevelKey) => ({ id, level, provider, config });

/**
 * Opens the secrets of a key. Returns null when they were sealed with a SECRETS_KEY that is not configured;
 * the key is unusable until it is.
 */
export function secretsOf(
  vault: SecretVault,
  key: LevelKey,
): Pick<UpstreamKey, "secret" | "privateKey"> | null {
  try {
    const privateKey = key.privateKey === undefined ? null : vault.open(key.privateKey);
    return { secret: vault.open(key.secret), privateKey };
  } catch (error) {
    if (error instanceof UnknownSecretsKey) return null;
    throw error;
  }
}

const failed = (name: UpstreamFailure["name"], note: string): AttemptResult => ({
  ok: false,
  signal: { name, status: 0, note },
});

/** Returns the ledger's row of an attempt. `signal` is null for a success; `ms` is its duration. */
export const rowOf = (
  key: LevelKey,
  model: string,
  signal: UpstreamFailure | null,
  ms: number,
  status = 200,
): AttemptRow => ({
  key: key.id,
  level: key.level,
  model,
  status: signal === null ? status : signal.status,
  signal: signal === null ? "ok" : signal.name,
  ms: Math.round(ms),
});
