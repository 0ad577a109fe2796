// How plain data becomes a frame and back. One pinned encoder, so that a local and a remote call cannot differ.
// It never carries classes, functions or undefined.

import { Packr } from "msgpackr";

const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: true, int64AsType: "number" });

export const encode = (value: unknown): Uint8Array => packr.pack(value);
export const decode = (frame: Uint8Array): unknown => packr.unpack(frame);
