// The payload of a body that this thread reads as bytes: of 16 KB or more, such as the conversation of an agent, or of a length that
// was not stated. While its request waits for the provider, which may take minutes, it holds the bytes and no value. Most are sent
// on in their own style, so they are read with a character for each byte; the value becomes text where it is needed.

import type { Dialect, ModelRequest } from "../../dialect/dialect.ts";
import type { PatchedBytes } from "../../dialect/payload/patched-bytes.ts";
import type { FieldEdits, Payload } from "../../dialect/payload/payload.ts";
import { jsonPayload } from "../../dialect/payload/payload-json.ts";
import { hashOf, type JsonBytesPayload, originalText } from "../../dialect/payload/payload-json-bytes.ts";
import type { ProviderTarget } from "../codec/kept-per-key.ts";
import type { EncodeInput, ProviderCodec } from "../codec/provider-codec.ts";
import { parseJsonBody } from "../json-body.ts";
import type { SentBody } from "./jobs.ts";
import { type EncodedOrRefused, OutlinedPayload } from "./outlined-payload.ts";
import { readJson } from "./read-job.ts";

/** Reads a JSON body on this thread. Throws `RefusedError` when it cannot be read. */
export const readMediumPayload = (given: Pick<SentBody, "path" | "body">): Payload =>
  new MediumPayload(readJson(given));

/** See the header of this file. */
class MediumPayload extends OutlinedPayload {
  protected readonly bytes: PatchedBytes;
  /** The value as it was read, until the first attempt is encoded; null from then on. */
  private read: JsonBytesPayload | null;

  constructor({ payload, output }: ReturnType<typeof readJson>) {
    super(output);
    this.bytes = payload.bytes;
    this.read = payload;
  }

  override edited(edits: FieldEdits): Uint8Array {
    this.read = null;
    return super.edited(edits);
  }

  hash(prefix: string): string {
    return hashOf(this.bytes, prefix);
  }

  prompt(dialect: Dialect, request: ModelRequest): readonly string[] {
    return dialect.promptTexts({ ...request, payload: this.opened() });
  }

  encoded(
    codec: ProviderCodec,
    _target: ProviderTarget,
    request: ModelRequest,
    input: EncodeInput,
  ): EncodedOrRefused {
    return codec.encode({ ...request, payload: this.opened() }, input);
  }

  /** Returns a payload of the same body that has its value. */
  private opened(): Payload {
    const { read } = this;
    this.read = null;
    return read?.intoText() ?? jsonPayload(originalText(this.bytes), parseJsonBody);
  }
}
