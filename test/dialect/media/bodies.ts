// Payloads as clients make them: forms by the platform's own encoder, JSON, and sounds with proper headers.

import { makeRoom } from "../../../src/dialect/payload/patched-bytes.ts";
import type { Payload } from "../../../src/dialect/payload/payload.ts";
import { formPayload } from "../../../src/dialect/payload/payload-form.ts";
import { jsonPayload } from "../../../src/dialect/payload/payload-json.ts";
import { jsonBytesPayload } from "../../../src/dialect/payload/payload-json-bytes.ts";

export const json = (value: unknown): Payload => jsonPayload(JSON.stringify(value));

/** The same as a body so large that long base64 is left out of its value. */
export function largeJson(value: unknown): Payload {
  const bytes = Buffer.from(JSON.stringify(value));
  const body = makeRoom(bytes.length);
  body.buffer.set(bytes, body.from);
  return jsonBytesPayload(body);
}

/** A form of text fields and files, encoded as `fetch` does. */
export async function form(fields: readonly (readonly [string, string | File])[]): Promise<Payload> {
  const data = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === "string") data.append(name, value);
    else data.append(name, value, value.name);
  }
  const encoded = new Response(data);
  const contentType = encoded.headers.get("content-type") ?? "";
  const bytes = new Uint8Array(await encoded.arrayBuffer());
  const body = makeRoom(bytes.length);
  body.buffer.set(bytes, body.from);
  const read = formPayload(body, contentType);
  if (!read.ok) throw new Error(read.fault);
  return read.payload;
}

/** What a provider reads of a body that was sent on. */
export async function readBack(payload: Payload, sent: string | Uint8Array): Promise<FormData> {
  return new Response(sent as Uint8Array<ArrayBuffer>, {
    headers: { "content-type": payload.contentType },
  }).formData() as Promise<FormData>;
}

export interface WavShape {
  readonly codec?: number;
  readonly channels?: number;
  readonly samples?: number;
  readonly bits?: number;
  /** What the header says of the data; by default what there is. */
  readonly stated?: number;
  /** A chunk before the data. */
  readonly before?: Uint8Array;
  readonly extensible?: number;
}

/** A WAV file with so many bytes of sound. */
export function wav(bytes: number, shape: WavShape = {}): Uint8Array {
  const { codec = 1, channels = 1, samples = 16_000, bits = 16, stated = bytes, before, extensible } = shape;
  const fmtSize = extensible === undefined ? 16 : 40;
  const head = Buffer.alloc(12 + 8 + fmtSize);
  head.write("RIFF", 0);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(fmtSize, 16);
  head.writeUInt16LE(extensible === undefined ? codec : 0xfffe, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(samples, 24);
  head.writeUInt32LE(1, 28);
  head.writeUInt16LE(bits, 34);
  if (extensible !== undefined) head.writeUInt16LE(extensible, 44);
  const data = Buffer.alloc(8);
  data.write("data", 0);
  data.writeUInt32LE(stated, 4);
  const list = before === undefined ? [] : [chunk("LIST", before)];
  return Buffer.concat([head, ...list, data, Buffer.alloc(bytes)]);
}

function chunk(name: string, content: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, 0);
  head.writeUInt32LE(content.length, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
}

export const file = (bytes: Uint8Array | string, name = "a.mp3", type = "audio/mpeg"): File =>
  new File([bytes as Uint8Array<ArrayBuffer>], name, { type });
