// Reads server-sent events (WHATWG HTML 9.2) from byte chunks, however they are split. Each event keeps its
// own bytes, including the blank line, so that it can be passed on without rebuilding. No input makes it
// throw: an event over the bound is reported once and ends the reading.

export interface SseEvent {
  /** All bytes of the event, including comments and the closing blank line. */
  readonly raw: Uint8Array;
  /** The value of the last `event:` line; empty without one. */
  readonly name: string;
  /** The `data:` lines joined by line feeds; null when there is none (a comment, a stray blank line). */
  readonly data: string | null;
  /**
   * `too_large` means over the bound (no event follows); `cut` means that the stream ended before the blank
   * line.
   */
  readonly fault?: "too_large" | "cut";
}

export interface SseReader {
  /** Returns the events that this chunk completes. The chunk must not change afterwards. */
  push(chunk: Uint8Array): SseEvent[];
  /** Returns whether the next byte begins an event. */
  idle(): boolean;
  /** Ends the stream. Returns the incomplete event, if any bytes are left. */
  end(): SseEvent[];
}

const LF = 10;
const CR = 13;
const NOTHING = new Uint8Array(0);

/** Creates a reader that holds at most `maxEventBytes` of an incomplete event, beyond the current chunk. */
export function createSseReader({ maxEventBytes }: { readonly maxEventBytes: number }): SseReader {
  /**
   * The incomplete event is `held[0..size)`. The buffer has room to grow, so that many small chunks do not
   * copy the whole each time.
   */
  let held = NOTHING;
  let size = 0;
  /**
   * Offset at which the search for the end continues, and of the current line's start (used once a CR was
   * seen).
   */
  let at = 0;
  let lineAt = 0;
  let carriage = false;
  let first = true;
  let dead = false;

  function push(chunk: Uint8Array): SseEvent[] {
    if (dead || chunk.length === 0) return [];
    if (!carriage && chunk.indexOf(CR) !== -1) {
      // From here on lines are searched one by one. The held bytes have no CR and are searched once more.
      carriage = true;
      at = 0;
      lineAt = 0;
    }
    const joined = size > 0;
    if (joined) append(chunk);
    const bytes = joined ? held : chunk;
    return read(bytes, joined ? size : chunk.length, joined);
  }

  function read(bytes: Uint8Array, length: number, joined: boolean): SseEvent[] {
    const events: SseEvent[] = [];
    let from = 0;
    for (;;) {
      const end = carriage ? lineByLine(bytes, from, length, false) : byPairs(bytes, from, length);
      if ((end === -1 ? length : end) - from > maxEventBytes) {
        dead = true;
        held = NOTHING;
        size = 0;
        events.push({ raw: NOTHING, name: "", data: null, fault: "too_large" });
        return events;
      }
      if (end === -1) break;
      events.push(parse(bytes.subarray(from, end)));
      from = end;
      at = end;
      lineAt = end;
    }
    keep(bytes, from, length, joined);
    return events;
  }

  /**
   * Finds the end of an event where no CR occurs, which is the first pair of line feeds. Returns -1 when it
   * is not here.
   */
  function byPairs(bytes: Uint8Array, from: number, length: number): number {
    if (from < length && bytes[from] === LF) return from + 1;
    // The spare room of the buffer is left out, because searching it at every chunk would take quadratic
    // time.
    const filled = length < bytes.length ? bytes.subarray(0, length) : bytes;
    for (let search = Math.max(at, from); ; ) {
      const feed = filled.indexOf(LF, search);
      if (feed === -1) {
        at = length;
        return -1;
      }
      if (feed + 1 >= length) {
        at = feed;
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
  function lineByLine(bytes: Uint8Array, from: number, length: number, last: boolean): number {
    let start = Math.max(lineAt, from);
    for (let i = Math.max(at, start); i < length; i++) {
      const byte = bytes[i];
      if (byte !== LF && byte !== CR) continue;
      if (byte === CR && i + 1 === length && !last) {
        at = i;
        lineAt = start;
        return -1;
      }
      const end = byte === CR && i + 1 < length && bytes[i + 1] === LF ? i + 2 : i + 1;
      if (i === start) return end;
      start = end;
      i = end - 1;
    }
    at = length;
    lineAt = start;
    return -1;
  }

  function keep(bytes: Uint8Array, from: number, length: number, joined: boolean): void {
    if (joined && from === 0) return;
    // Events may still point into the old buffer, so the rest moves to a new one.
    size = length - from;
    held = size === 0 ? NOTHING : bytes.slice(from, length);
    at -= from;
    lineAt -= from;
  }

  function append(chunk: Uint8Array): void {
    const need = size + chunk.length;
    if (need > held.length) {
      const larger = new Uint8Array(Math.max(need, 2 * held.length));
      larger.set(held.subarray(0, size));
      held = larger;
    }
    held.set(chunk, size);
    size = need;
  }

  function parse(raw: Uint8Array): SseEvent {
    const event = parseEvent(raw, first);
    first = false;
    return event;
  }

  function end(): SseEvent[] {
    if (dead || size === 0) return [];
    dead = true;
    const rest = held.subarray(0, size);
    const closed = carriage ? lineByLine(rest, 0, size, true) : -1;
    if (closed === size) return [parse(rest)];
    return [{ ...parse(rest), fault: "cut" }];
  }

  return { push, end, idle: () => size === 0 && !dead };
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

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
  for (const line of (first ? text.replace(/^\ufeff/, "") : text).split(/\r\n|\n|\r/)) {
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
