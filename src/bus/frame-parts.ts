// Splits frames into messages of bounded size and joins them again. Most frames fit into one message; a large
// one goes in parts, in order. Each message begins with three bytes: its kind, the number of its part, and
// the number of parts. This file knows no transport and no time; the bytes that it keeps are bounded.

/** The kind of a message: a frame or a part of one, or the reason why there is no frame. */
export const KIND = { frame: 0, busy: 1, failed: 2, tooLarge: 3 } as const;

/** Length of a message's header, in bytes. */
export const HEAD = 3;
const PARTS_MAX = 255;

/**
 * Yields the messages of a frame, each with at most `size` bytes of it. The bytes are copied, so the frame
 * may change afterwards. Throws when more than 255 parts are needed.
 */
export function* splitFrame(frame: Uint8Array, size: number): Generator<Uint8Array> {
  const count = Math.max(1, Math.ceil(frame.length / size));
  if (count > PARTS_MAX) throw new Error(`a frame of ${frame.length} bytes in parts of ${size}`);
  for (let part = 0; part < count; part++) {
    const bytes = frame.subarray(part * size, (part + 1) * size);
    const message = new Uint8Array(HEAD + bytes.length);
    message[1] = part;
    message[2] = count;
    message.set(bytes, HEAD);
    yield message;
  }
}

/** Returns a message of this kind without a frame. */
export const reasonMessage = (kind: number): Uint8Array => Uint8Array.of(kind, 0, 1);

/** Incomplete frames by key. */
export interface FrameJoiner {
  /**
   * Adds a message. Returns the frame when its last part is here. Returns undefined while parts are missing,
   * or when this part does not continue the frame.
   */
  take(key: string, message: Uint8Array): Uint8Array | undefined;
  forget(key: string): void;
  /** Returns the bytes held for incomplete frames. */
  waiting(): number;
}

/**
 * Joins frames from their parts, by key. Above `bytesMax` the incomplete frame that began first is dropped,
 * and its sender gets no answer.
 */
export function createFrameJoiner(bytesMax: number): FrameJoiner {
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
      // A part was lost, so the frame can never be completed.
      if (part !== frame.parts.length || count !== frame.count) return void forget(key);
      begun.set(key, frame);
      frame.parts.push(own);
      frame.bytes += own.length;
      bytes += own.length;
      if (frame.parts.length === count) {
        forget(key);
        return concatenate(frame.parts);
      }
      for (const [oldest] of begun) {
        if (bytes <= bytesMax) break;
        forget(oldest);
      }
      return undefined;
    },
    forget,
    waiting: () => bytes,
  };
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const frame = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    frame.set(part, at);
    at += part.length;
  }
  return frame;
}
