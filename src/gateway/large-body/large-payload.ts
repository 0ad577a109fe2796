// The payload of a large body that a worker thread has read. Its bytes are on this thread, so that a few fields are patched in
// place; its value is not. What needs the value is a job of a worker, to which the bytes are handed over and from which
// they come back.

import type { CancelSignal } from "../../base/cancellation.ts";
import { assert, type Refusal } from "../../base/errors.ts";
import type { Dialect, ModelRequest, ParsedRequest } from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import { type BodyBytes, type PatchedBytes, patchedBytes } from "../../dialect/payload/patched-bytes.ts";
import type { FieldEdits, Payload } from "../../dialect/payload/payload.ts";
import { formPatchesOf } from "../../dialect/payload/payload-form.ts";
import { bytePatchesOf } from "../../dialect/payload/payload-json-bytes.ts";
import { recordDemands } from "../../dialect/request-demands.ts";
import type { ProviderTarget } from "../codec/kept-per-key.ts";
import type { EncodedBody, EncodeInput, ProviderCodec } from "../codec/provider-codec.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { estimateTokens } from "../metering/token-counter.ts";
import type { JobResult, Jobs, LargeBody, ReadFacts, RequestFacts } from "./jobs.ts";
import { PackedNames } from "./packed-names.ts";
import type { LargeBodies } from "./worker-pool.ts";

/**
 * Reads a large body in a worker thread. Throws `RefusedError` when it cannot be read or too many wait, and the signal's
 * reason when it aborts.
 */
export async function readLargePayload(
  large: LargeBodies,
  input: Jobs["read"]["input"],
  signal: CancelSignal,
): Promise<Payload> {
  const { body, output } = await large.run("read", input, [bufferOf(input.body)], signal);
  assert(body !== null, "the bytes of a body come back");
  return new LargePayload(large, input.path, body, output);
}

/** Parses a request. A large one has been parsed by a worker. */
export const parsedBy = ({ parse }: Pick<Dialect, "parse">, payload: Payload): ParsedRequest =>
  payload instanceof LargePayload ? payload.parsed : parse(payload);

/** Returns the texts of a request's prompt, or the number of its tokens, which a worker counts for a large one. */
export const promptOf = (
  { dialect }: Pick<GatewayEndpoint, "dialect">,
  request: ModelRequest,
): readonly string[] | Promise<number> =>
  request.payload instanceof LargePayload ? request.payload.count(request) : dialect.promptTexts(request);

/**
 * Encodes a large request in a worker, where this thread cannot do it. Returns null where it can, and for small
 * requests.
 */
export const encodedElsewhere = (
  { path, translates }: Pick<ProviderCodec, "path" | "translates">,
  target: ProviderTarget,
  request: ModelRequest,
  input: EncodeInput,
): Promise<EncodedBody | { readonly refusal: Refusal }> | null =>
  request.payload instanceof LargePayload &&
  (translates ||
    !request.payload.isEditable ||
    input.isWithoutReasoning === true ||
    input.signsCalls === true)
    ? request.payload.encoded(path, target, request, input)
    : null;

const bufferOf = ({ buffer }: BodyBytes): ArrayBuffer => buffer.buffer as ArrayBuffer;

const factsOf = ({ payload: _, ...facts }: ModelRequest): RequestFacts => facts;

/** See the header of this file. */
class LargePayload implements Payload {
  readonly value: Json;
  readonly files = [];
  readonly contentType: string;
  readonly parsed: ParsedRequest;
  readonly isEditable: boolean;
  /** The body; null while a worker has it. */
  private bytes: PatchedBytes | null;

  constructor(
    private readonly large: LargeBodies,
    private readonly path: string,
    body: BodyBytes,
    private readonly facts: ReadFacts,
  ) {
    const { parsed, outline, contentType, editable, demands } = facts;
    this.bytes = patchedBytes(body);
    this.value = outline;
    this.contentType = contentType;
    this.isEditable = editable !== null;
    this.parsed = parsed.ok ? { ok: true, request: { ...parsed.request, payload: this } } : parsed;
    recordDemands(outline, demands);
  }

  edited(edits: FieldEdits): Uint8Array {
    const { editable } = this.facts;
    assert(editable !== null && this.bytes !== null, "a large body is edited where it can be");
    const patches =
      "form" in editable ? formPatchesOf(editable.form, edits) : bytePatchesOf(editable.fields, edits);
    return this.bytes.patch(patches);
  }

  hash(): string {
    const { hash } = this.facts;
    assert(hash !== null, "a large body was hashed when it was read");
    return hash;
  }

  /** `providerPath` is that of the codec. */
  async encoded(
    providerPath: string,
    target: ProviderTarget,
    request: ModelRequest,
    input: EncodeInput,
  ): Promise<EncodedBody | { readonly refusal: Refusal }> {
    const host = URL.parse(target.provider)?.hostname ?? "";
    const more = { request: factsOf(request), providerPath, host, input };
    const output = await this.inWorker("encode", (body) => ({ ...body, ...more }));
    if ("refusal" in output) return output;
    const { bytes, toolNames, repeatedFields } = output;
    return { body: bytes, toolNames: new PackedNames(toolNames), repeatedFields };
  }

  async count(request: ModelRequest): Promise<number> {
    try {
      return await this.inWorker("count", (body) => ({ ...body, request: factsOf(request) }));
    } catch {
      // A count that cannot be made is an estimate, as in token-worker-pool.ts.
      return estimateTokens({ bytes: request.promptBytes });
    }
  }

  private async inWorker<K extends "encode" | "count">(
    kind: K,
    inputOf: (body: LargeBody) => Jobs[K]["input"],
  ): Promise<Jobs[K]["output"]> {
    const { bytes, path, contentType } = this;
    assert(bytes !== null, "the bytes of a body are on this thread");
    this.bytes = null;
    const body = bytes.release();
    const done: JobResult<K> = await this.large.run(kind, inputOf({ body, path, contentType }), [
      bufferOf(body),
    ]);
    assert(done.body !== null, "the bytes of a body come back");
    this.bytes = patchedBytes(done.body);
    return done.output;
  }

  lengthOf(): number {
    throw new Error(ELSEWHERE);
  }

  mentions(): boolean {
    throw new Error(ELSEWHERE);
  }

  without(): Payload {
    throw new Error(ELSEWHERE);
  }

  withFields(): Payload {
    throw new Error(ELSEWHERE);
  }

  whole(): unknown {
    throw new Error(ELSEWHERE);
  }
}

const ELSEWHERE = "the value of a large body is read by a worker alone";
