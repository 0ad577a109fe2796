// How plain data becomes a frame and back. One pinned encoder, so that a local and a remote call cannot differ: a field
// that is undefined is absent on the other side, as it is to whoever reads it here. It never carries classes or functions.

import { Packr } from "msgpackr";

/** Its types do not know `skipValues`. */
const options = {
  useRecords: false,
  skipValues: [undefined],
  encodeUndefinedAsNil: true,
  int64AsType: "number" as const,
};
const packr = new Packr(options);

export const encode = (value: unknown): Uint8Array => packr.pack(value);
export const decode = (frame: Uint8Array): unknown => packr.unpack(frame);
