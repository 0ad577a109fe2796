// What a worker thread does with a body that is too large for the event loop: reads a request, encodes it for a
// provider, counts its prompt, reads a whole answer. The work is that of the dialects and codecs, so a large body means
// what a small one means. Only what later steps need comes back, bounded in size, since what a message holds is copied
// on the event loop. Bytes are handed over, never copied. It keeps nothing between jobs.

import { isAscii, isUtf8 } from "node:buffer";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { ModelRequest, RequestRefusal, WholeAnswer } from "../../dialect/dialect.ts";
import { isObject, type Json } from "../../dialect/json.ts";
import { unsignedThoughts } from "../../dialect/messages/messages-request.ts";
import { type Form, isForm } from "../../dialect/payload/form-parts.ts";
import type { JsonFields } from "../../dialect/payload/json-fields.ts";
import type { BodyBytes } from "../../dialect/payload/patched-bytes.ts";
import type { Payload } from "../../dialect/payload/payload.ts";
import { formPayload } from "../../dialect/payload/payload-form.ts";
import { jsonPayload } from "../../dialect/payload/payload-json.ts";
import {
  jsonByteStringsPayload,
  jsonBytesPayload,
  readableBytes,
} from "../../dialect/payload/payload-json-bytes.ts";
import { type Demands, demandsOf } from "../../dialect/request-demands.ts";
import { isReference } from "../../dialect/responses/responses-objects.ts";
import { carryingItems } from "../../dialect/responses/responses-request.ts";
import { codecAt, reopened } from "../codec/native-codec.ts";
import type { LargeAnswerFacts } from "../codec/provider-answer.ts";
import type {
  EncodeInput,
  ProviderExchange,
  RequestOrigin,
  StoredResponseOrigin,
} from "../codec/provider-codec.ts";
import { StoredResponseExchange } from "../codec/stored-response-codec.ts";
import { findEndpoint } from "../endpoints.ts";
import { parseJsonBody } from "../json-body.ts";
import { isOfTokens } from "../metering/meter-kinds.ts";
import type { TokenCounter } from "../metering/token-counter.ts";
import { PackedNames, packedNames } from "./packed-names.ts";

/** A body with the path that it was sent to. */
export interface LargeBody {
  readonly body: BodyBytes;
  readonly contentType: string;
  readonly path: string;
}

/** What is known of a request without its body. */
export type RequestFacts = Omit<ModelRequest, "payload">;

/** What is left on the event loop of a request that was read. */
export interface ReadFacts {
  readonly parsed:
    | { readonly ok: true; readonly request: RequestFacts }
    | { readonly ok: false; readonly refusal: RequestRefusal };
  /** The few fields of the value that are read again later. */
  readonly outline: Json;
  readonly demands: Demands;
  /** Where the body can be patched; null where a worker has to encode it. */
  readonly editable: { readonly fields: JsonFields } | { readonly form: Form } | null;
  readonly contentType: string;
  /** The hash of prefix and body; null when none was asked for. */
  readonly hash: string | null;
}

/** A request encoded for a provider, with the bytes of its changed tool names, and with what its answer repeats. */
export interface EncodedFacts {
  readonly bytes: Uint8Array;
  readonly toolNames: Uint8Array;
  readonly repeatedFields: Json;
}

/** What is left on the event loop of a whole answer. */
export type AnswerFacts =
  | {
      readonly ok: true;
      readonly answer: Omit<Extract<WholeAnswer, { ok: true }>, "body">;
      readonly facts: Omit<LargeAnswerFacts, "client">;
      readonly client: Uint8Array<ArrayBuffer>;
    }
  | {
      readonly ok: false;
      /** The beginning of its text. */
      readonly text: string;
    };

/** The jobs by name: what goes in, and what comes out beside the body's bytes. */
export interface Jobs {
  read: { input: LargeBody & { readonly hashPrefix: string | null }; output: ReadFacts };
  encode: {
    input: LargeBody & {
      readonly request: RequestFacts;
      /** The path and the host name of the provider. */
      readonly providerPath: string;
      readonly host: string;
      readonly input: EncodeInput;
    };
    output: EncodedFacts | { readonly refusal: Refusal };
  };
  count: { input: LargeBody & { readonly request: RequestFacts }; output: number };
  answer: { input: LargeAnswer; output: AnswerFacts };
}

/** A whole answer of a provider as it arrived, and how it is read. */
export interface LargeAnswer {
  readonly pieces: readonly Uint8Array[];
  readonly contentType: string;
  readonly fingerprint: string;
  readonly origin: StoredResponseOrigin | PackedOrigin;
}

/** What the exchange of a request was opened with, as a message carries it. */
interface PackedOrigin extends Omit<RequestOrigin, "request" | "toolNames"> {
  readonly request: RequestFacts;
  readonly toolNames: Uint8Array;
}

/** The result of a job, and the body whose bytes go back. */
export interface JobResult<K extends keyof Jobs> {
  readonly output: Jobs[K]["output"];
  readonly body: BodyBytes | null;
}

/** No price list has a longer name (specification, "Limits"), so what is longer names nothing. */
const NAME_CHARS_MAX = 131_073;
/** Characters kept of ids and of the names of fields, more than any that is looked up has. */
const ID_CHARS_MAX = 1_000;
/** References of a request that are kept: one more than it may have. */
const REFERENCES_MAX = 1_001;
/** Tools of a request that are kept. No price list has as many, so that one of them has no price. */
const TOOLS_MAX = 3_000;
/** A larger `stream_options` stays in the worker. No string of a smaller one is shortened. */
const OPTIONS_BYTES_MAX = 4_096;

const cutText = (text: string, most = NAME_CHARS_MAX): string =>
  text.length > most ? text.slice(0, most) : text;

/** Does a job. Throws `RefusedError` for a body that cannot be read. */
export const DO: {
  readonly [K in keyof Jobs]: (
    input: Jobs[K]["input"],
    counter: TokenCounter,
  ) => JobResult<K> | Promise<JobResult<K>>;
} = { read: readRequest, encode: encodeRequest, count: countPrompt, answer: readAnswer };

/** A payload, the bytes that it reads, and where they can be patched. */
interface Opened {
  readonly payload: Payload;
  readonly body: BodyBytes;
  readonly editable: ReadFacts["editable"];
}

function opened({ body, contentType }: LargeBody): Opened {
  if (!isForm(contentType)) {
    const readable = readableBytes(body);
    const payload = jsonBytesPayload(readable, parseJsonBody);
    const { fields } = payload;
    return { payload, body: readable, editable: fields === null ? null : { fields } };
  }
  const read = formPayload(body, contentType);
  if (read.ok) return { payload: read.payload, body, editable: { form: read.form } };
  throw new RefusedError({ code: "invalid_parameter", message: `The body ${read.fault}.` });
}

/** Facts of a request without its hash. */
type UnhashedFacts = Omit<ReadFacts, "hash">;

function readRequest({ hashPrefix, ...given }: Jobs["read"]["input"]): JobResult<"read"> {
  const { body, payload, output } = readByteStrings(given) ?? readOpened(given.path, opened(given));
  const hash = hashPrefix === null ? null : payload.hash(hashPrefix);
  return { body, output: { ...output, hash } };
}

/** A request that was read. */
interface ReadRequest extends Opened {
  readonly output: UnhashedFacts;
}

/**
 * Reads a request whose strings have a character for each byte, in half the time. What comes of it is the same as long as
 * sizes are counted in bytes and whatever is kept is ASCII. Returns null where that is not so, and for a refusal.
 */
function readByteStrings({ path, contentType, ...given }: LargeBody): ReadRequest | null {
  if (isForm(contentType) || !isOfTokens(findEndpoint(path).meter)) return null;
  const body = readableBytes(given.body);
  const payload = jsonByteStringsPayload(body, parseJsonBody);
  if (payload === null) return null;
  const { fields } = payload;
  const read = readOpened(path, { payload, body, editable: fields === null ? null : { fields } });
  return read.output.parsed.ok && isAscii(Buffer.from(JSON.stringify(read.output))) ? read : null;
}

function readOpened(path: string, { payload, body, editable }: Opened): ReadRequest {
  const parsed = findEndpoint(path).dialect.parse(payload);
  const value = isObject(payload.value) ? payload.value : {};
  const options = optionsOf(value, editable);
  const isPlain = options !== null && unsignedThoughts(value).length + carryingItems(value).length === 0;
  const output: UnhashedFacts = {
    parsed: parsed.ok ? { ok: true, request: factsOf(parsed.request) } : parsed,
    outline: { ...options, ...outlineOf(value) },
    demands: boundedDemands(demandsOf(payload.value)),
    editable: isPlain ? withShortNames(editable) : null,
    contentType: payload.contentType,
  };
  return { payload, body, editable, output };
}

function factsOf({ payload: _, ...request }: ModelRequest): RequestFacts {
  const { serviceTier, answerForm, measured } = request;
  const { image } = measured;
  const kind = image && Object.fromEntries(Object.entries(image).map(([k, v]) => [k, cutValue(v)]));
  return {
    ...request,
    serviceTier: serviceTier === null ? null : cutText(serviceTier),
    answerForm: answerForm === null ? null : cutText(answerForm, ID_CHARS_MAX),
    measured: kind === undefined ? measured : { ...measured, image: kind },
  };
}

const cutValue = (value: unknown): string | undefined =>
  typeof value === "string" ? cutText(value) : undefined;

/** Returns the field `stream_options`, which is edited, or null when it is too large to be copied. */
function optionsOf({ stream_options: options }: Json, editable: ReadFacts["editable"]): Json | null {
  if (!isObject(options)) return {};
  const fields = editable !== null && "fields" in editable ? editable.fields.fields : [];
  const field = fields.find(({ name }) => name === "stream_options");
  const isSmall = field !== undefined && field.to - field.from <= OPTIONS_BYTES_MAX;
  return isSmall ? { stream_options: options } : null;
}

/** Returns the fields by which stored objects are found. */
function outlineOf({ store, previous_response_id: previous, conversation, input }: Json): Json {
  const ids = (Array.isArray(input) ? input : []).filter(isReference).slice(0, REFERENCES_MAX);
  return {
    ...(store === false ? { store } : {}),
    ...(typeof previous === "string" ? { previous_response_id: cutText(previous, ID_CHARS_MAX) } : {}),
    ...(typeof conversation === "string" ? { conversation: cutText(conversation, ID_CHARS_MAX) } : {}),
    ...(isObject(conversation) ? { conversation: { id: cutId(conversation.id) } } : {}),
    input: ids.map(({ id }) => ({ type: "item_reference", id: cutId(id) })),
  };
}

const cutId = (id: unknown): unknown => (typeof id === "string" ? cutText(id, ID_CHARS_MAX) : null);

const boundedDemands = ({ objects, routing, tools, searches, compactions }: Demands): Demands => ({
  objects,
  routing,
  tools: Object.fromEntries(Object.entries(tools).slice(0, TOOLS_MAX)),
  searches,
  compactions,
});

/** No field with a long name is ever edited, so that a beginning is enough to tell it from those that are. */
function withShortNames(editable: ReadFacts["editable"]): ReadFacts["editable"] {
  if (editable === null || "form" in editable) return editable;
  const { open, fields } = editable.fields;
  const short = fields.map((field) => ({ ...field, name: cutText(field.name, ID_CHARS_MAX) }));
  return { fields: { open, fields: short } };
}

const encoder = new TextEncoder();

function encodeRequest(job: Jobs["encode"]["input"]): JobResult<"encode"> {
  const { request, providerPath, host, input, ...given } = job;
  const codec = codecAt(findEndpoint(given.path), providerPath, host);
  if (codec === null) throw new Error("a key was chosen that does not serve the path");
  const { body, payload } = completePayload(given);
  const encoded = codec.encode({ ...request, payload }, input);
  if ("refusal" in encoded) return { body, output: encoded };
  const { body: sent, toolNames, repeatedFields } = encoded;
  const bytes = typeof sent === "string" ? encoder.encode(sent) : sent.slice();
  return { body, output: { bytes, toolNames: packedNames(toolNames), repeatedFields } };
}

/** Returns the payload with all strings complete, since any of them may be sent on. It leaves the bytes as they are. */
function completePayload({ body, contentType }: LargeBody): Pick<Opened, "body" | "payload"> {
  if (isForm(contentType)) throw new Error("a form is patched, not encoded");
  const text = Buffer.from(body.buffer.buffer, body.buffer.byteOffset + body.from, body.to - body.from);
  return { body, payload: jsonPayload(text.toString("utf8"), parseJsonBody) };
}

async function countPrompt(
  { request, ...given }: Jobs["count"]["input"],
  counter: TokenCounter,
): Promise<JobResult<"count">> {
  const { payload, body } = opened(given);
  const texts = findEndpoint(given.path).dialect.promptTexts({ ...request, payload });
  return { body, output: await counter.count(texts) };
}

/** Characters of an answer's text by which its failure is classified, and some more for what is redacted. */
const FAULT_CHARS_MAX = 131_072;

function readAnswer({ pieces, contentType, fingerprint, origin }: LargeAnswer): JobResult<"answer"> {
  const bytes = Buffer.concat(pieces);
  const text = bytes.toString("utf8");
  const exchange = exchangeOf(origin);
  const answer = exchange.readAnswer({ text, contentType });
  if (!answer.ok) return { body: null, output: { ok: false, text: text.slice(0, FAULT_CHARS_MAX) } };
  const client = exchange.clientText(text, answer.body, fingerprint);
  // An answer that passes unchanged is sent as it came.
  const isSame = client === text && isUtf8(bytes);
  return {
    body: null,
    output: { ...answerFacts(origin, answer), client: isSame ? bytes : encoder.encode(client) },
  };
}

function exchangeOf(origin: LargeAnswer["origin"]): ProviderExchange {
  if (origin.kind === "stored") {
    const unsent = { method: "GET", body: null, headers: {} } as const;
    return new StoredResponseExchange("", unsent, origin.model, origin.naming);
  }
  return reopened(findEndpoint(origin.path), {
    ...origin,
    request: { ...origin.request, payload: jsonPayload("{}") },
    toolNames: new PackedNames(origin.toolNames),
  });
}

/** Ids of stored objects in one answer that are recorded. */
const MADE_MAX = 10_000;

function answerFacts(
  origin: LargeAnswer["origin"],
  { body, usage, serviceTier, texts, measured }: Extract<WholeAnswer, { ok: true }>,
): Omit<Extract<AnswerFacts, { ok: true }>, "client"> {
  const objects = origin.kind === "stored" ? undefined : findEndpoint(origin.path).dialect.objects;
  return {
    ok: true,
    answer: {
      ok: true,
      usage: isSmall(usage) ? usage : null,
      serviceTier: serviceTier === null ? null : cutText(serviceTier),
      texts: sampleOf(texts),
      measured: isSmall(measured) ? measured : {},
    },
    facts: {
      isJson: body !== null,
      model: typeof body?.model === "string" ? cutText(body.model) : null,
      made: body === null ? [] : (objects?.madeBy(body) ?? []).slice(0, MADE_MAX),
      chars: texts.reduce((sum, text) => sum + text.length, 0),
    },
  };
}

/** No provider's usage is as long. One that is counts as missing. */
const USAGE_CHARS_MAX = 100_000;

const isSmall = (value: unknown): boolean => (JSON.stringify(value) ?? "").length <= USAGE_CHARS_MAX;

/** Texts and characters that are kept for counting; beyond, they are a sample, as those of a long stream are. */
const TEXTS_MAX = 1_000;
const TEXTS_CHARS_MAX = 2_000_000;

function sampleOf(texts: readonly string[]): string[] {
  const every = Math.ceil(texts.length / TEXTS_MAX);
  const some = texts.filter((_, i) => i % every === 0);
  const share = Math.floor(TEXTS_CHARS_MAX / Math.max(1, some.length));
  const chars = some.reduce((sum, text) => sum + text.length, 0);
  return chars <= TEXTS_CHARS_MAX ? some : some.map((text) => text.slice(0, Math.max(1, share)));
}
