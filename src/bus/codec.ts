// Encodes plain data as frames and decodes them. There is one encoder, JSON, so that local and remote calls cannot
// differ: a field that is undefined is absent on the other side, which reads the same. It never carries classes,
// functions, or numbers that are not finite.

/** Encodes plain data as a frame, which is never empty. Undefined is encoded as null. */
export const encode = (value: unknown): string => JSON.stringify(value) ?? "null";
/** Decodes a frame. Throws when it is malformed. */
export const decode = (frame: string): unknown => JSON.parse(frame);
