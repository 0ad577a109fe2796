// Reads Server-Sent Events out of byte chunks, however they were split. Each event keeps its own bytes, the blank line
// included, so that passing it on costs no rebuilding. Never throws on any input: an event over the bound is reported once
// and ends the reading.

export interface SseEvent {
  /** Every byte of the event, comments and the closing blank line included. */
  readonly raw: Uint8Array;
  /** The last `event:` line; empty without one. */
  readonly name: string;
  /** The `data:` lines joined by line feeds; null without any (a comment, a stray blank line). */
  readonly data: string | null;
  /** What is wrong: larger than the bound (nothing follows), or cut off by the end before its blank line. */
  readonly fault?: "too_large" | "cut";
}

export interface SseReader {
  /** The events that this chunk completes. The chunk must not change afterwards. */
  push(chunk: Uint8Array): SseEvent[];
  /** Nothing unfinished is held: what comes next begins an event. */
  idle(): boolean;
  /** The stream has ended: what is left of it, if anything. */
  end(): SseEvent[];
}

const LF = 10;
const CR = 13;
const NOTHING = new Uint8Array(0);

/** A reader that holds at most `maxEventBytes` of an unfinished event (beyond the chunk at hand). */
export function createSseReader({ maxEventBytes }: { readonly maxEventBytes: number }): SseReader {
  /** The unfinished event: `held[0..size)`, with room to grow, so that many small chunks cost no copying of the whole. */
  let held = NOTHING;
  let size = 0;
  /** Where the search for the end goes on, and where the current line began (used once a CR was seen). */
  let at = 0;
  let lineAt = 0;
  let carriage = false;
  let first = true;
  let dead = false;

  function push(chunk: Uint8Array): SseEvent[] {
    if (dead || chunk.length === 0) return [];
    if (!carriage && chunk.indexOf(CR) !== -1) {
      // Lines are searched one by one from here on; what is held has no CR and is gone through once more.
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

  /** Without carriage returns an event ends at the first pair of line feeds: one native search. */
  function byPairs(bytes: Uint8Array, from: number, length: number): number {
    if (from < length && bytes[from] === LF) return from + 1;
    // What is held has room behind it: searching there too, at every chunk, would take quadratic time.
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

  /** With carriage returns anywhere: a CR at the very end waits for what may be its LF, unless nothing follows. */
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

/** The fields of one event; by far the most are a single `data:` line and are cut out without looking at lines. */
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

/** Whether the bytes begin with `data:`. */
function isDataLine(raw: Uint8Array): boolean {
  return raw[0] === 100 && raw[1] === 97 && raw[2] === 116 && raw[3] === 97 && raw[4] === 58;
}
