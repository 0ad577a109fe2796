// Reads a request whose body is held as bytes: parses it, and keeps the few fields that are needed later. A large one is read so in
// a worker thread, another on the event loop.

import { isAscii } from "node:buffer";
import { RefusedError } from "../../base/errors.ts";
import type { ModelRequest } from "../../dialect/dialect.ts";
import { isObject, type Json } from "../../dialect/json.ts";
import { unsignedThoughts } from "../../dialect/messages/messages-request.ts";
import { isForm } from "../../dialect/payload/form-parts.ts";
import type { BodyBytes } from "../../dialect/payload/patched-bytes.ts";
import type { Payload } from "../../dialect/payload/payload.ts";
import { formPayload } from "../../dialect/payload/payload-form.ts";
import {
  type JsonBytesPayload,
  jsonByteStringsPayload,
  jsonBytesPayload,
  readableBytes,
} from "../../dialect/payload/payload-json-bytes.ts";
import { type Demands, demandsOf } from "../../dialect/request-demands.ts";
import { isReference, isStoredReasoning } from "../../dialect/responses/responses-objects.ts";
import { carryingItems } from "../../dialect/responses/responses-request.ts";
import { findEndpoint } from "../endpoints.ts";
import { parseJsonBody } from "../json-body.ts";
import { isOfTokens } from "../metering/meter-kinds.ts";
import {
  cutText,
  type JobResult,
  type Jobs,
  type LargeBody,
  type ReadFacts,
  type RequestFacts,
} from "./jobs.ts";

/** Characters kept of ids and of the names of fields, more than any that is looked up has. */
const ID_CHARS_MAX = 1_000;
/** References of a request that are kept: one more than it may have. */
const REFERENCES_MAX = 1_001;
/** Tools of a request that are kept. No price list has as many, so that one of them has no price. */
const TOOLS_MAX = 3_000;
/** A larger `stream_options` stays in the worker. No string of a smaller one is shortened. */
const OPTIONS_BYTES_MAX = 4_096;

/** A payload, the bytes that it reads, and where they can be patched. */
export interface OpenedBody {
  readonly payload: Payload;
  readonly body: BodyBytes;
  readonly editable: ReadFacts["editable"];
}

/** Opens a body for reading. Throws `RefusedError` (`invalid_parameter`) for a form that cannot be read. */
export function openBody({ body, contentType }: LargeBody): OpenedBody {
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

/** Reads a request. Throws `RefusedError` for a body that cannot be read. */
export function readRequest({ hashPrefix, ...given }: Jobs["read"]["input"]): JobResult<"read"> {
  const { body, payload, output } = readByteStrings(given) ?? readOpened(given.path, openBody(given));
  const hash = hashPrefix === null ? null : payload.hash(hashPrefix);
  return { body, output: { ...output, hash } };
}

/** A request that was read. */
interface ReadRequest extends OpenedBody {
  readonly output: UnhashedFacts;
}

/** A request whose strings have a character for each byte. */
export interface ReadByteStrings extends ReadRequest {
  readonly payload: JsonBytesPayload;
}

/**
 * Reads a request whose strings have a character for each byte, in half the time. What comes of it is the same as long as
 * sizes are counted in bytes and whatever is kept is ASCII. Returns null where that is not so, and for a refusal.
 */
export function readByteStrings({ path, contentType, ...given }: LargeBody): ReadByteStrings | null {
  if (isForm(contentType) || !isOfTokens(findEndpoint(path).meter)) return null;
  const body = readableBytes(given.body);
  const payload = jsonByteStringsPayload(body, parseJsonBody);
  if (payload === null) return null;
  const { fields } = payload;
  const read = readOpened(path, { payload, body, editable: fields === null ? null : { fields } });
  const isExact = read.output.parsed.ok && isAscii(Buffer.from(JSON.stringify(read.output)));
  return isExact ? { ...read, payload } : null;
}

function readOpened(path: string, { payload, body, editable }: OpenedBody): ReadRequest {
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
  const items: readonly unknown[] = Array.isArray(input) ? input : [];
  const ids = items.filter(isReference).slice(0, REFERENCES_MAX);
  const reasoning = items.filter(isStoredReasoning).slice(0, REFERENCES_MAX);
  return {
    ...(store === false ? { store } : {}),
    ...(typeof previous === "string" ? { previous_response_id: cutText(previous, ID_CHARS_MAX) } : {}),
    ...(typeof conversation === "string" ? { conversation: cutText(conversation, ID_CHARS_MAX) } : {}),
    ...(isObject(conversation) ? { conversation: { id: cutId(conversation.id) } } : {}),
    input: [
      ...ids.map(({ id }) => ({ type: "item_reference", id: cutId(id) })),
      ...reasoning.map(({ id }) => ({ type: "reasoning", id: cutId(id) })),
    ],
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
