// Encodes plain data as frames and decodes them. There is one pinned encoder, so that local and remote calls
// cannot differ: a field that is undefined is absent on the other side, which reads the same. It never
// carries classes or functions.

import { Packr } from "msgpackr";

/** This is not passed inline, because the library's types lack `skipValues`. */
const options = {
  useRecords: false,
  skipValues: [undefined],
  encodeUndefinedAsNil: true,
  int64AsType: "number" as const,
};
const packr = new Packr(options);

/** Encodes plain data as a msgpack frame. */
export const encode = (value: unknown): Uint8Array => packr.pack(value);
/** Decodes a msgpack frame. Throws when it is malformed. */
export const decode = (frame: Uint8Array): unknown => packr.unpack(frame);
