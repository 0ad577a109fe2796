// The payload of a body of some hundred kilobytes, such as the conversation of an agent, which this thread reads. While its
// request waits for the provider, which may take minutes, it holds the bytes and no value. Most are sent on in their own style, so
// they are read with a character for each byte; the value becomes text where a provider of another style is asked.

import { assert } from "../../base/errors.ts";
import type { Dialect, ModelRequest } from "../../dialect/dialect.ts";
import type { FieldEdits, Payload } from "../../dialect/payload/payload.ts";
import { jsonPayload } from "../../dialect/payload/payload-json.ts";
import {
  completeBytesPayload,
  hashOf,
  type JsonBytesPayload,
  originalText,
} from "../../dialect/payload/payload-json-bytes.ts";
import type { ProviderTarget } from "../codec/kept-per-key.ts";
import type { EncodeInput, ProviderCodec } from "../codec/provider-codec.ts";
import { parseJsonBody } from "../json-body.ts";
import type { LargeBody } from "./jobs.ts";
import { type EncodedOrRefused, OutlinedPayload } from "./outlined-payload.ts";
import { type ReadByteStrings, readByteStrings } from "./read-job.ts";

/** Reads a JSON body on this thread. Throws `RefusedError` when it cannot be read. */
export function readLocalPayload(given: LargeBody): Payload {
  const read = readByteStrings(given);
  return read === null ? completeBytesPayload(given.body, parseJsonBody) : new LocalPayload(read);
}

/** See the header of this file. */
class LocalPayload extends OutlinedPayload {
  /** The value as it was read, until the first attempt is encoded; null from then on. */
  private read: JsonBytesPayload | null;

  constructor({ payload, output }: ReadByteStrings) {
    super(payload.bytes, output);
    this.read = payload;
  }

  override edited(edits: FieldEdits): Uint8Array {
    this.read = null;
    return super.edited(edits);
  }

  hash(prefix: string): string {
    assert(this.bytes !== null, "no other thread reads the bytes");
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
    const { read, bytes } = this;
    this.read = null;
    assert(bytes !== null, "no other thread reads the bytes");
    return read?.intoText() ?? jsonPayload(originalText(bytes), parseJsonBody);
  }
}
