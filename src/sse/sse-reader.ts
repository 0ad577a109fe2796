// Reads server-sent events (WHATWG HTML 9.2) from byte chunks, however they are split. Each event keeps its
// own bytes, including the blank line, so that it can be passed on without rebuilding. No input makes it
// throw: an event over the bound is reported once and ends the reading.

/** One event. */
export interface SseEvent {
  /** All bytes of the event, including comments and the closing blank line. */
  readonly raw: Uint8Array;
  /** The value of the last `event:` line; empty without one. */
  readonly name: string;
  /** The `data:` lines joined by line feeds; null when there is none (a comment, a stray blank line). */
  readonly data: string | null;
  /**
   * `too_large` means over a bound of bytes or lines (after one of bytes no event follows); `cut` means that the stream ended before the blank
   * line.
   */
  readonly fault?: "too_large" | "cut";
}

const LF = 10;
const CR = 13;
const NOTHING = new Uint8Array(0);

/** Reads one stream. */
export class SseReader {
  readonly #maxEventBytes: number;
  /**
   * The incomplete event is `#held[0..#size)`. The buffer has room to grow, so that many small chunks do not
   * copy the whole each time.
   */
  #held: Uint8Array = NOTHING;
  #size = 0;
  /**
   * Offset at which the search for the end continues, and of the current line's start (used once a CR was
   * seen).
   */
  #at = 0;
  #lineAt = 0;
  #hasCarriageReturn = false;
  #isFirst = true;
  #isEnded = false;

  /** A reader that holds at most `maxEventBytes` of an incomplete event, beyond the current chunk. */
  constructor({ maxEventBytes }: { readonly maxEventBytes: number }) {
    this.#maxEventBytes = maxEventBytes;
  }

  /** Returns the events that this chunk completes. The chunk must not change afterwards. */
  push(chunk: Uint8Array): SseEvent[] {
    if (this.#isEnded || chunk.length === 0) return [];
    if (!this.#hasCarriageReturn && chunk.indexOf(CR) !== -1) {
      // From here on lines are searched one by one. The held bytes have no CR and are searched once more.
      this.#hasCarriageReturn = true;
      this.#at = 0;
      this.#lineAt = 0;
    }
    const joined = this.#size > 0;
    if (joined) this.#append(chunk);
    const bytes = joined ? this.#held : chunk;
    return this.#read(bytes, joined ? this.#size : chunk.length, joined);
  }

  /** Returns whether the next byte begins an event. */
  idle(): boolean {
    return this.#size === 0 && !this.#isEnded;
  }

  /** Ends the stream. Returns the incomplete event, if any bytes are left. */
  end(): SseEvent[] {
    if (this.#isEnded || this.#size === 0) return [];
    this.#isEnded = true;
    const rest = this.#held.subarray(0, this.#size);
    const closed = this.#hasCarriageReturn ? this.#findByLine(rest, 0, this.#size, true) : -1;
    if (closed === this.#size) return [this.#parse(rest)];
    return [{ ...this.#parse(rest), fault: "cut" }];
  }

  #read(bytes: Uint8Array, length: number, joined: boolean): SseEvent[] {
    const events: SseEvent[] = [];
    let from = 0;
    for (;;) {
      const end = this.#hasCarriageReturn
        ? this.#findByLine(bytes, from, length, false)
        : this.#findByPair(bytes, from, length);
      if ((end === -1 ? length : end) - from > this.#maxEventBytes) {
        this.#isEnded = true;
        this.#held = NOTHING;
        this.#size = 0;
        events.push({ raw: NOTHING, name: "", data: null, fault: "too_large" });
        return events;
      }
      if (end === -1) break;
      events.push(this.#parse(bytes.subarray(from, end)));
      from = end;
      this.#at = end;
      this.#lineAt = end;
    }
    this.#keep(bytes, from, length, joined);
    return events;
  }

  /**
   * Finds the end of an event where no CR occurs, which is the first pair of line feeds. Returns -1 when it
   * is not here.
   */
  #findByPair(bytes: Uint8Array, from: number, length: number): number {
    if (from < length && bytes[from] === LF) return from + 1;
    // The spare room of the buffer is left out, because searching it at every chunk would take quadratic
    // time.
    const filled = length < bytes.length ? bytes.subarray(0, length) : bytes;
    for (let search = Math.max(this.#at, from); ; ) {
      const feed = filled.indexOf(LF, search);
      if (feed === -1) {
        this.#at = length;
        return -1;
      }
      if (feed + 1 >= length) {
        this.#at = feed;
        return -1;
      }
      if (bytes[feed + 1] === LF) return feed + 2;
      search = feed + 1;
    }
  }

  /**
   * Finds the end of an event line by line. A CR at the very end waits for a possible LF, unless `last` is
   * set. Returns -1 when the end is not here.
   */
  #findByLine(bytes: Uint8Array, from: number, length: number, last: boolean): number {
    let start = Math.max(this.#lineAt, from);
    for (let i = Math.max(this.#at, start); i < length; i++) {
      const byte = bytes[i];
      if (byte !== LF && byte !== CR) continue;
      if (byte === CR && i + 1 === length && !last) {
        this.#at = i;
        this.#lineAt = start;
        return -1;
      }
      const end = byte === CR && i + 1 < length && bytes[i + 1] === LF ? i + 2 : i + 1;
      if (i === start) return end;
      start = end;
      i = end - 1;
    }
    this.#at = length;
    this.#lineAt = start;
    return -1;
  }

  #keep(bytes: Uint8Array, from: number, length: number, joined: boolean): void {
    if (joined && from === 0) return;
    // Events may still point into the old buffer, and a view of the rest would keep all of it in memory.
    this.#size = length - from;
    this.#held = this.#size === 0 ? NOTHING : new Uint8Array(bytes.subarray(from, length));
    this.#at -= from;
    this.#lineAt -= from;
  }

  #append(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    if (size > this.#held.length) {
      const larger = new Uint8Array(Math.max(size, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#size));
      this.#held = larger;
    }
    this.#held.set(chunk, this.#size);
    this.#size = size;
  }

  #parse(raw: Uint8Array): SseEvent {
    const event = parseEvent(raw, this.#isFirst);
    this.#isFirst = false;
    return event;
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Lines of one event that are read; no provider sends as many. */
const LINES_MAX = 20_000;

/**
 * Parses the fields of one event. Nearly all are a single `data:` line, which is cut out without splitting
 * lines.
 */
function parseEvent(raw: Uint8Array, first: boolean): SseEvent {
  if (isDataLine(raw)) {
    const feed = raw.indexOf(LF, 5);
    if (feed === raw.length - 2 && raw[feed - 1] !== CR && raw[feed + 1] === LF) {
      return { raw, name: "", data: decoder.decode(raw.subarray(raw[5] === 32 ? 6 : 5, feed)) };
    }
  }
  const text = decoder.decode(raw);
  let name = "";
  let data: string | null = null;
  const lines = (first ? text.replace(/^\ufeff/, "") : text).split(/\r\n|\n|\r/, LINES_MAX + 1);
  if (lines.length > LINES_MAX) return { raw, name: "", data: null, fault: "too_large" };
  for (const line of lines) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "data") data = data === null ? value : `${data}\n${value}`;
    else if (field === "event") name = value;
  }
  return { raw, name, data };
}

/** Returns whether the bytes begin with `data:`. */
function isDataLine(raw: Uint8Array): boolean {
  return raw[0] === 100 && raw[1] === 97 && raw[2] === 116 && raw[3] === 97 && raw[4] === 58;
}
