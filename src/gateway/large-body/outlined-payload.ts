// A payload that was read once: of its body it keeps the bytes, in which a few fields are patched in place, and an outline of the
// value with the facts that later steps need. Whatever needs the value itself opens the body again, on this thread
// (medium-payload.ts) or in a worker (large-payload.ts).

import { assert, type Refusal } from "../../base/errors.ts";
import type { Dialect, ModelRequest, ParsedRequest } from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import type { PatchedBytes } from "../../dialect/payload/patched-bytes.ts";
import type { FieldEdits, Payload } from "../../dialect/payload/payload.ts";
import { formPatchesOf } from "../../dialect/payload/payload-form.ts";
import { bytePatchesOf } from "../../dialect/payload/payload-json-bytes.ts";
import { recordDemands } from "../../dialect/request-demands.ts";
import type { ProviderTarget } from "../codec/kept-per-key.ts";
import type { EncodedBody, EncodeInput, ProviderCodec } from "../codec/provider-codec.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import type { RequestOutline } from "./jobs.ts";

/** A request's body for a provider, or why there is none. */
export type EncodedOrRefused = EncodedBody | { readonly refusal: Refusal };

/** Parses a request. An outlined one has been parsed. */
export const parsedBy = ({ parse }: Pick<Dialect, "parse">, payload: Payload): ParsedRequest =>
  payload instanceof OutlinedPayload ? payload.parsed : parse(payload);

/** Returns the texts of a request's prompt, or the number of its tokens, which a worker counts for a large one. */
export const promptOf = (
  { dialect }: Pick<GatewayEndpoint, "dialect">,
  request: ModelRequest,
): readonly string[] | Promise<number> =>
  request.payload instanceof OutlinedPayload
    ? request.payload.prompt(dialect, request)
    : dialect.promptTexts(request);

/** Encodes a request that needs the value of an outlined body. Returns null for all others, which their codec encodes. */
export const encodedFromValue = (
  codec: ProviderCodec,
  target: ProviderTarget,
  request: ModelRequest,
  input: EncodeInput,
): EncodedOrRefused | Promise<EncodedOrRefused> | null =>
  request.payload instanceof OutlinedPayload &&
  (codec.translates ||
    !request.payload.isEditable ||
    input.isWithoutReasoning === true ||
    input.signsCalls === true)
    ? request.payload.encoded(codec, target, request, input)
    : null;

/** See the header of this file. */
export abstract class OutlinedPayload implements Payload {
  readonly value: Json;
  readonly files = [];
  readonly contentType: string;
  readonly parsed: ParsedRequest;
  /** Whether fields are edited by patches, for which the value is not needed. */
  readonly isEditable: boolean;

  private readonly editable: RequestOutline["editable"];

  constructor({ parsed, outline, contentType, editable, demands }: RequestOutline) {
    this.value = outline;
    this.contentType = contentType;
    this.editable = editable;
    this.isEditable = editable !== null;
    this.parsed = parsed.ok ? { ok: true, request: { ...parsed.request, payload: this } } : parsed;
    recordDemands(outline, demands);
  }

  /** The body, while this thread has it. */
  protected abstract readonly bytes: PatchedBytes;

  abstract hash(prefix: string): string;

  /** Returns the texts of the prompt, or the number of its tokens. */
  abstract prompt(dialect: Dialect, request: ModelRequest): readonly string[] | Promise<number>;

  /** Encodes the request, with the value at hand. */
  abstract encoded(
    codec: ProviderCodec,
    target: ProviderTarget,
    request: ModelRequest,
    input: EncodeInput,
  ): EncodedOrRefused | Promise<EncodedOrRefused>;

  edited(edits: FieldEdits): Uint8Array {
    const { editable } = this;
    assert(editable !== null, "an outlined body is edited where it can be");
    const patches =
      "form" in editable ? formPatchesOf(editable.form, edits) : bytePatchesOf(editable.fields, edits);
    return this.bytes.patch(patches);
  }

  lengthOf(): number {
    throw new Error(NO_VALUE);
  }

  mentions(): boolean {
    throw new Error(NO_VALUE);
  }

  without(): Payload {
    throw new Error(NO_VALUE);
  }

  withFields(): Payload {
    throw new Error(NO_VALUE);
  }

  whole(): unknown {
    throw new Error(NO_VALUE);
  }
}

const NO_VALUE = "the value of an outlined body is not kept";
