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
  hasByteStrings,
  type JsonBytesPayload,
  jsonBytesPayload,
  type Reading,
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
  type ReadFacts,
  type RequestFacts,
  type RequestOutline,
  type SentBody,
} from "./jobs.ts";

/** Characters kept of ids and of the names of fields, more than any that is looked up has. */
const ID_CHARS_MAX = 1_000;
/** References of a request that are kept: one more than it may have. */
const REFERENCES_MAX = 1_001;
/** Tools of a request that are kept. No price list has as many, so that one of them has no price. */
const TOOLS_MAX = 3_000;
/** A larger `stream_options` is no part of the outline. No string of a smaller one is shortened. */
const OPTIONS_BYTES_MAX = 4_096;

/** A payload, the bytes that it reads, and where they can be patched. */
export interface OpenedBody {
  readonly payload: Payload;
  readonly body: BodyBytes;
  readonly editable: ReadFacts["editable"];
}

/** Opens a body for reading. Throws `RefusedError` (`invalid_parameter`) for a form that cannot be read. */
export function openBody({ body, contentType }: SentBody): OpenedBody {
  if (!isForm(contentType)) return openedJson(readableBytes(body), "utf8");
  const read = formPayload(body, contentType);
  if (read.ok) return { payload: read.payload, body, editable: { form: read.form } };
  throw new RefusedError({ code: "invalid_parameter", message: `The body ${read.fault}.` });
}

/** Reads a request. Throws `RefusedError` for a body that cannot be read. */
export function readRequest({ hashPrefix, ...given }: Jobs["read"]["input"]): JobResult<"read"> {
  const { body, payload, output } = isForm(given.contentType)
    ? readOpened(given.path, openBody(given))
    : readJson(given);
  const hash = hashPrefix === null ? null : payload.hash(hashPrefix);
  return { body, output: { ...output, hash } };
}

/** A body that was opened, and what its request says. */
type WithOutline<O extends OpenedBody> = O & { readonly output: RequestOutline };

interface OpenedJson extends OpenedBody {
  readonly payload: JsonBytesPayload;
}

/** Reads a request in JSON, on any thread. Throws `RefusedError` for a body that is none. */
export function readJson({ path, body }: Pick<SentBody, "path" | "body">): WithOutline<OpenedJson> {
  const readable = readableBytes(body);
  return readByteStrings(path, readable) ?? readOpened(path, openedJson(readable, "utf8"));
}

/**
 * Reads a request whose strings have a character for each byte, in half the time. What comes of it is the same as long as
 * sizes are counted in bytes and whatever is kept or compared is ASCII. Returns null where that is not so, and for a refusal.
 */
function readByteStrings(path: string, body: BodyBytes): WithOutline<OpenedJson> | null {
  if (!isOfTokens(findEndpoint(path).meter) || !hasByteStrings(body)) return null;
  const read = readOpened(path, openedJson(body, "latin1"));
  const { value } = read.payload;
  // The rules find a field that is spelt in other letters, some of which are not ASCII, by the names of all fields.
  const compared = [read.output, isObject(value) ? Object.keys(value) : []];
  return read.output.parsed.ok && isAscii(Buffer.from(JSON.stringify(compared))) ? read : null;
}

function openedJson(body: BodyBytes, reading: Reading): OpenedJson {
  const payload = jsonBytesPayload(body, parseJsonBody, reading);
  const { fields } = payload;
  return { payload, body, editable: fields === null ? null : { fields } };
}

function readOpened<O extends OpenedBody>(path: string, opened: O): WithOutline<O> {
  const { payload, editable } = opened;
  const parsed = findEndpoint(path).dialect.parse(payload);
  const value = isObject(payload.value) ? payload.value : {};
  const options = optionsOf(value, editable);
  const isPlain = options !== null && unsignedThoughts(value).length + carryingItems(value).length === 0;
  const output: RequestOutline = {
    parsed: parsed.ok ? { ok: true, request: factsOf(parsed.request) } : parsed,
    outline: { ...options, ...outlineOf(value) },
    demands: boundedDemands(demandsOf(payload.value)),
    editable: isPlain ? withOwnNames(editable, value) : null,
    contentType: payload.contentType,
  };
  return { ...opened, output };
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

/**
 * Returns the fields with the names that the value has, since a name that was cut out of the text would keep all of it in memory. No
 * field with a long name is ever edited, so that a beginning is enough to tell it from those that are.
 */
function withOwnNames(editable: RequestOutline["editable"], value: Json): RequestOutline["editable"] {
  if (editable === null || "form" in editable) return editable;
  const { open, fields } = editable.fields;
  const own = new Map(Object.keys(value).map((name) => [name, name]));
  const named = fields.map((field) => ({ ...field, name: cutText(own.get(field.name)!, ID_CHARS_MAX) }));
  return { fields: { open, fields: named } };
}
