// The payload of a large body that a worker thread has read. Its bytes are on this thread, so that a few fields are patched in
// place; its value is not. What needs the value is a job of a worker, to which the bytes are handed over and from which
// they come back.

import type { CancelSignal } from "../../base/cancellation.ts";
import { assert } from "../../base/errors.ts";
import type { Dialect, ModelRequest } from "../../dialect/dialect.ts";
import { type BodyBytes, type PatchedBytes, patchedBytes } from "../../dialect/payload/patched-bytes.ts";
import type { Payload } from "../../dialect/payload/payload.ts";
import type { ProviderTarget } from "../codec/kept-per-key.ts";
import type { EncodeInput, ProviderCodec } from "../codec/provider-codec.ts";
import { estimateTokens } from "../metering/token-counter.ts";
import type { JobResult, Jobs, ReadFacts, RequestFacts, SentBody } from "./jobs.ts";
import { type EncodedOrRefused, OutlinedPayload } from "./outlined-payload.ts";
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

const bufferOf = ({ buffer }: BodyBytes): ArrayBuffer => buffer.buffer as ArrayBuffer;

const factsOf = ({ payload: _, ...facts }: ModelRequest): RequestFacts => facts;

/** See the header of this file. */
class LargePayload extends OutlinedPayload {
  /** Null while a worker has the body. */
  private here: PatchedBytes | null;

  constructor(
    private readonly large: LargeBodies,
    private readonly path: string,
    body: BodyBytes,
    private readonly facts: ReadFacts,
  ) {
    super(facts);
    this.here = patchedBytes(body);
  }

  protected get bytes(): PatchedBytes {
    assert(this.here !== null, "the bytes of a body are on this thread");
    return this.here;
  }

  hash(): string {
    const { hash } = this.facts;
    assert(hash !== null, "a large body was hashed when it was read");
    return hash;
  }

  async encoded(
    { path }: ProviderCodec,
    target: ProviderTarget,
    request: ModelRequest,
    input: EncodeInput,
  ): Promise<EncodedOrRefused> {
    const host = URL.parse(target.provider)?.hostname ?? "";
    const more = { request: factsOf(request), providerPath: path, host, input };
    const output = await this.inWorker("encode", (body) => ({ ...body, ...more }));
    if ("refusal" in output) return output;
    const { bytes, toolNames, repeatedFields } = output;
    return { body: bytes, toolNames: new PackedNames(toolNames), repeatedFields };
  }

  async prompt(_dialect: Dialect, request: ModelRequest): Promise<number> {
    try {
      return await this.inWorker("count", (body) => ({ ...body, request: factsOf(request) }));
    } catch {
      // A count that cannot be made is an estimate, as in token-worker-pool.ts.
      return estimateTokens({ bytes: request.promptBytes });
    }
  }

  private async inWorker<K extends "encode" | "count">(
    kind: K,
    inputOf: (body: SentBody) => Jobs[K]["input"],
  ): Promise<Jobs[K]["output"]> {
    const { bytes, path, contentType } = this;
    this.here = null;
    const body = bytes.release();
    const done: JobResult<K> = await this.large.run(kind, inputOf({ body, path, contentType }), [
      bufferOf(body),
    ]);
    assert(done.body !== null, "the bytes of a body come back");
    this.here = patchedBytes(done.body);
    return done.output;
  }
}
