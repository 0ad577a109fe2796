// Frames as messages carry them. A message is a text of one part after another: whole frames that one turn of the
// event loop sends to the same receiver, or one piece of a frame that is too long for a message. This file knows no
// transport and no time; what it keeps is bounded.
//
// A part begins with a header of numbers in base 128, a character of ASCII for each digit:
//
// digits   meaning
// 1        its kind: a frame, or the reason why there is none
// 2        which piece of the frame it is
// 2        into how many pieces the frame was split
// 5        the id of the request, the same in request and answer
// 4        how many characters (UTF-16 code units) follow

/** The kind of a part: a frame or a piece of one, or the reason why there is no frame. */
export const KIND = { frame: 0, busy: 1, failed: 2, tooLarge: 3 } as const;

/** Length of the header of a part, in characters. */
export const HEAD = 14;
const PIECES_MAX = 128 * 128 - 1;

/** A frame or a piece of one, with the id of the request that it belongs to. */
export class FramePart {
  constructor(
    readonly kind: number,
    /** A whole number below 2^32. */
    readonly id: number,
    readonly text: string,
    readonly index = 0,
    readonly count = 1,
  ) {}

  /** Its length in a message, in characters. */
  get length(): number {
    return HEAD + this.text.length;
  }
}

/** Returns a part that says why there is no frame. */
export const reasonPart = (kind: number, id: number): FramePart => new FramePart(kind, id, "");

/**
 * Returns the pieces of a frame, each of at most `lengthMax` characters of it. Throws when they are too many to
 * count, or have no room for a character.
 */
export function splitFrame(id: number, frame: string, lengthMax: number): readonly FramePart[] {
  if (lengthMax < 2) throw new Error(`pieces of ${lengthMax} characters`);
  const texts: string[] = [];
  for (let from = 0; from < frame.length || from === 0; ) {
    const to = from + lengthMax;
    // Half of a character outside the basic plane could not be encoded.
    const isCut = to < frame.length && isLowSurrogate(frame.charCodeAt(to));
    const end = isCut ? to - 1 : to;
    texts.push(frame.slice(from, end));
    from = end;
  }
  if (texts.length > PIECES_MAX)
    throw new Error(`a frame of ${frame.length} characters in ${texts.length} pieces`);
  return texts.map((text, index) => new FramePart(KIND.frame, id, text, index, texts.length));
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** Returns the message of these parts. */
export function joinParts(parts: readonly FramePart[]): string {
  let message = "";
  for (const part of parts) message += headOf(part) + part.text;
  return message;
}

const headOf = ({ kind, id, text, index, count }: FramePart): string =>
  String.fromCharCode(
    kind,
    index >>> 7,
    index & 127,
    count >>> 7,
    count & 127,
    id >>> 28,
    (id >>> 21) & 127,
    (id >>> 14) & 127,
    (id >>> 7) & 127,
    id & 127,
    (text.length >>> 21) & 127,
    (text.length >>> 14) & 127,
    (text.length >>> 7) & 127,
    text.length & 127,
  );

/** Returns the parts of a message. What follows a malformed part is left out. */
export function framePartsOf(message: string): readonly FramePart[] {
  const parts: FramePart[] = [];
  for (let at = 0; at + HEAD <= message.length; ) {
    const from = at + HEAD;
    const to = from + numberAt(message, at + 10, 4);
    if (to > message.length) break;
    parts.push(
      new FramePart(
        numberAt(message, at, 1),
        numberAt(message, at + 5, 5),
        message.slice(from, to),
        numberAt(message, at + 1, 2),
        numberAt(message, at + 3, 2),
      ),
    );
    at = to;
  }
  return parts;
}

function numberAt(text: string, at: number, digits: number): number {
  let value = 0;
  for (let i = 0; i < digits; i++) value = value * 128 + text.charCodeAt(at + i);
  return value;
}

/** Incomplete frames by key. */
export interface FrameJoiner<K> {
  /**
   * Adds a part. Returns the frame when its last piece is here. Returns undefined while pieces are missing, or
   * when this one does not continue the frame.
   */
  take(key: K, part: FramePart): string | undefined;
  forget(key: K): void;
  /** Returns the characters held for incomplete frames. */
  waiting(): number;
}

/**
 * Joins frames from their pieces, by key. Above `lengthMax` characters the incomplete frame that began first is
 * dropped, and its sender gets no answer.
 */
export function createFrameJoiner<K>(lengthMax: number): FrameJoiner<K> {
  const begun = new Map<K, { readonly pieces: string[]; readonly count: number; length: number }>();
  let waiting = 0;

  function forget(key: K): void {
    waiting -= begun.get(key)?.length ?? 0;
    begun.delete(key);
  }

  return {
    take(key, { text, index, count }) {
      if (index === 0) forget(key);
      const frame = begun.get(key) ?? { pieces: [], count, length: 0 };
      // A piece was lost, so the frame can never be completed.
      if (index !== frame.pieces.length || count !== frame.count) return void forget(key);
      begun.set(key, frame);
      frame.pieces.push(text);
      frame.length += text.length;
      waiting += text.length;
      if (frame.pieces.length === count) {
        forget(key);
        return frame.pieces.join("");
      }
      for (const [oldest] of begun) {
        if (waiting <= lengthMax) break;
        forget(oldest);
      }
      return undefined;
    },
    forget,
    waiting: () => waiting,
  };
}
