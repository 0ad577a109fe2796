// How a frame travels in messages of bounded size: most go whole, a large one in parts, in order. Each message opens with
// three bytes: what it is, which part, of how many. It knows no transport and no time; what it keeps is bounded.

/** What a message is: a (part of a) frame, or in its place the word why there is none. */
export const KIND = { frame: 0, busy: 1, failed: 2, tooLarge: 3 } as const;

/** What a message opens with, bytes. */
export const HEAD = 3;
const MOST_PARTS = 255;

/** The messages of a frame, each with at most `size` bytes of it. Copies: the frame is its owner's again at once. */
export function* splitFrame(frame: Uint8Array, size: number): Generator<Uint8Array> {
  const count = Math.max(1, Math.ceil(frame.length / size));
  if (count > MOST_PARTS) throw new Error(`a frame of ${frame.length} bytes in parts of ${size}`);
  for (let part = 0; part < count; part++) {
    const bytes = frame.subarray(part * size, (part + 1) * size);
    const message = new Uint8Array(HEAD + bytes.length);
    message[1] = part;
    message[2] = count;
    message.set(bytes, HEAD);
    yield message;
  }
}

/** A message without a frame. */
export const word = (kind: number): Uint8Array => Uint8Array.of(kind, 0, 1);

export interface Joiner {
  /** The frame once its last part has come; undefined: more are to come, or the message is none of ours. */
  take(key: string, message: Uint8Array): Uint8Array | undefined;
  forget(key: string): void;
  /** Bytes that wait for the rest of their frames. */
  waiting(): number;
}

/** Puts frames together again, by key. Over `mostBytes` the frame that was begun first is given up: its sender hears nothing. */
export function joiner(mostBytes: number): Joiner {
  const begun = new Map<string, { readonly parts: Uint8Array[]; readonly count: number; bytes: number }>();
  let bytes = 0;

  function forget(key: string): void {
    bytes -= begun.get(key)?.bytes ?? 0;
    begun.delete(key);
  }

  return {
    take(key, message) {
      const [, part = 0, count = 0] = message;
      const own = new Uint8Array(message.subarray(HEAD));
      if (count === 1) return own;
      if (part === 0) forget(key);
      const frame = begun.get(key) ?? { parts: [], count, bytes: 0 };
      // A part is missing: what is here will never be whole.
      if (part !== frame.parts.length || count !== frame.count) return void forget(key);
      begun.set(key, frame);
      frame.parts.push(own);
      frame.bytes += own.length;
      bytes += own.length;
      if (frame.parts.length === count) {
        forget(key);
        return joined(frame.parts);
      }
      for (const [oldest] of begun) {
        if (bytes <= mostBytes) break;
        forget(oldest);
      }
      return undefined;
    },
    forget,
    waiting: () => bytes,
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const frame = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}
