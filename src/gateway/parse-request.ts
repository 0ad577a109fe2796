// Parses the body of a request, and fills the request's object with it: what is asked of which model, how large it is, what it
// refers to. It admits nothing and sends nothing.

import type { Idempotency } from "../../actors/account/state.ts";
import { type Refusal, RefusedError } from "../base/errors.ts";
import type { HeaderReader, HeaderRecord } from "../base/header-reader.ts";
import type { Dialect, ModelRequest } from "../dialect/dialect.ts";
import type { Payload } from "../dialect/payload/payload.ts";
import type { Caller } from "./account/identify.ts";
import type { AdmissionInput } from "./admission/admission-request.ts";
import {
  NO_FORWARDED_HEADERS,
  type ParsedContext,
  type ParsedFields,
  type RunningRequest,
} from "./context.ts";
import type { IdempotentAdmission } from "./idempotency/idempotent-admission.ts";
import { parsedBy } from "./large-body/outlined-payload.ts";
import { sizeOf } from "./metering/request-size.ts";
import { conversationOf } from "./routing/rendezvous.ts";
import { hasForeignReasoning, type KeyPin, keyPinOf } from "./stored-objects/key-pin.ts";
import type { StoredObjectIndex } from "./stored-objects/object-index.ts";

/** The services that parsing needs. */
export interface RequestParsingParts {
  readonly idempotentAdmission: Pick<IdempotentAdmission, "hashes">;
  readonly storedObjects: Pick<StoredObjectIndex, "find">;
}

/** What a request says beside its body. */
export type RequestHead = Pick<ParsedFields, "caller" | "streamShape" | "requestedTags">;

/**
 * Parses a body and fills the context, at once unless the request has an Idempotency-Key or refers to stored objects.
 * Returns what admission takes: the context, or a refusal, which admission returns after those that come first. Throws or
 * rejects with `RefusedError` where a refusal has no hashes of an Idempotency-Key.
 */
export function parseRequest(
  parts: RequestParsingParts,
  context: RunningRequest,
  payload: Payload,
  head: RequestHead,
): AdmissionInput | Promise<AdmissionInput> {
  const { call, endpoint } = context;
  const { dialect, meter } = endpoint;
  const { caller } = head;
  const parsed = parsedBy(dialect, payload);
  if (!parsed.ok) {
    const { code, message, errorDetails } = parsed.refusal;
    const details = errorDetails === undefined ? {} : { errorDetails };
    return refusedInput(context, caller, null, { code, message: `${message}.`, ...details });
  }
  const { request } = parsed;
  const name = meter.free ? null : call.headers.get("idempotency-key");
  if (name !== null) return parseRepeatable(parts, context, { request, payload, head, name });
  const found = storedObjectsOf(parts, caller, dialect, payload);
  return found instanceof Promise
    ? found.then((later) => filled(context, request, head, null, later))
    : filled(context, request, head, null, found);
}

/** What the stored objects that a request refers to mean for it. */
interface Referred {
  readonly pinnedKey: KeyPin | null;
  readonly isWithoutReasoning: boolean;
}

const NOTHING_REFERRED: Referred = { pinnedKey: null, isWithoutReasoning: false };

/** Finds the stored objects that a request refers to, at once when there are none. Throws like `keyPinOf`. */
function storedObjectsOf(
  { storedObjects }: RequestParsingParts,
  { account }: Caller,
  dialect: Dialect,
  payload: Payload,
): Referred | Promise<Referred> {
  const pin = keyPinOf(storedObjects, account, dialect, payload);
  const isForeign = hasForeignReasoning(storedObjects, account, dialect, payload);
  if (pin === null && isForeign === false) return NOTHING_REFERRED;
  return Promise.all([pin, isForeign]).then(([pinnedKey, isWithoutReasoning]) => ({
    pinnedKey,
    isWithoutReasoning,
  }));
}

/** Does the same for a request with an Idempotency-Key. */
async function parseRepeatable(
  parts: RequestParsingParts,
  context: RunningRequest,
  given: {
    readonly request: ModelRequest;
    readonly payload: Payload;
    readonly head: RequestHead;
    readonly name: string;
  },
): Promise<AdmissionInput> {
  const { call, endpoint } = context;
  const { request, payload, head, name } = given;
  const { caller } = head;
  const ip = () => call.ip();
  // From here on a repeat gets the answer of the first request, even if the objects that it refers to are gone.
  const idempotency = await parts.idempotentAdmission.hashes(caller, { path: call.path, name, payload, ip });
  try {
    const found = await storedObjectsOf(parts, caller, endpoint.dialect, payload);
    return filled(context, request, head, idempotency, found);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return refusedInput(context, caller, idempotency, error.refusal);
  }
}

function filled(
  context: RunningRequest,
  request: ModelRequest,
  { caller, streamShape, requestedTags }: RequestHead,
  idempotency: Idempotency | null,
  { pinnedKey, isWithoutReasoning }: Referred,
): ParsedContext {
  const { call, endpoint } = context;
  return context.parsed({
    caller,
    request,
    size: sizeOf(request, pinnedKey?.tokens),
    idempotency,
    pinnedKey,
    isWithoutReasoning,
    conversation:
      pinnedKey === null
        ? conversationOf(caller.account, endpoint.dialect.name, request.conversation, call.headers)
        : null,
    streamShape,
    forwardedHeaders: forwardedHeaders(call.headers, endpoint.answers === "sound"),
    requestedTags,
  });
}

/** Returns what admission takes of an invalid request. */
export const refusedInput = (
  { id, endpoint, call }: RunningRequest,
  caller: Caller,
  idempotency: Idempotency | null,
  refusal: Refusal,
): AdmissionInput => ({ id, endpoint, caller, ip: () => call.ip(), requested: { refusal }, idempotency });

/** The client's headers that are sent on to providers. All others concern only the client and this service. */
const FORWARDED = ["openai-beta", "anthropic-version", "anthropic-beta"];
/** For audio the `accept` header selects the format. */
const FORWARDED_FOR_SOUND = [...FORWARDED, "accept"];

/** Returns the headers that a request sends on, which may be one for sound. */
function forwardedHeaders(headers: HeaderReader, isForSound: boolean): HeaderRecord {
  let forwarded: Record<string, string> | null = null;
  for (const name of isForSound ? FORWARDED_FOR_SOUND : FORWARDED) {
    const value = headers.get(name);
    if (value === null) continue;
    forwarded ??= {};
    forwarded[name] = value;
  }
  return forwarded ?? NO_FORWARDED_HEADERS;
}
