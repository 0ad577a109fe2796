// The parts of a stream as one, whichever of them are text.

import type { StreamPart } from "../../../src/gateway/call.ts";

/** The bytes of all parts. */
export const bytesOfParts = (parts: readonly StreamPart[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));

/** The text of one part. */
export const textOfPart = (part: StreamPart): string => bytesOfParts([part]).toString();
