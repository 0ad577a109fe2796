// The steps of a stream that need nothing made: made once, since most events of a stream are one of them.

import type { StreamStep } from "./dialect.ts";

export const WITHHELD: StreamStep = { kind: "withheld" };
/** The event's own bytes, which say nothing that was generated. */
export const AS_IT_CAME: StreamStep = { kind: "pass", bytes: null, content: false };
export const CONTENT_AS_IT_CAME: StreamStep = { kind: "pass", bytes: null, content: true };
