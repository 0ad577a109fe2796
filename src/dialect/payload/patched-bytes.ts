// A body's bytes in a buffer with room before and behind them: what changes is changed in place, by moving whichever side of
// it is shorter. Each set of patches is said of the body as it came; what an earlier set changed is put back first.

/** Where a body lies. The bytes of the buffer around it are free. */
export interface BodyBytes {
  readonly buffer: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** `into` stands where `from` to `to` of the body, as it came, stood. In order, never overlapping. */
export interface BytePatch {
  readonly from: number;
  readonly to: number;
  readonly into: Uint8Array;
}

export interface PatchedBytes {
  /** Bytes of the body as it came. */
  readonly length: number;
  readonly isPatched: boolean;
  /** The body with these patches and no others. A view: the next call changes it. */
  patch(patches: readonly BytePatch[]): Uint8Array;
  /** A stretch of the body as it came. A view, too; copied only when it lies partly in what was patched. */
  original(from: number, to: number): Uint8Array;
  /** All of the body as it came, in order. Cut at patches alone. */
  pieces(): readonly Uint8Array[];
}

/** A model's name and a few fields more need no larger room. */
export const ROOM_BYTES = 4_096;

/** A place for a body of so many bytes. */
export function makeRoom(length: number): BodyBytes {
  return { buffer: new Uint8Array(length + 2 * ROOM_BYTES), from: ROOM_BYTES, to: ROOM_BYTES + length };
}

/** A patch that is in the buffer now, with what it replaced. */
interface Applied {
  readonly from: number;
  readonly replaced: Uint8Array;
  readonly length: number;
}

/** The buffer is the patcher's from here on. */
export function patchedBytes(body: BodyBytes): PatchedBytes {
  let { buffer, from: start, to: end } = body;
  const length = end - start;
  let applied: readonly Applied[] = [];

  /** Puts `into` in the place of `size` bytes at `at`, counted from the beginning of what is there now. */
  function splice(at: number, size: number, into: Uint8Array): void {
    const grown = into.length - size;
    const left = at;
    const right = end - start - at - size;
    const before = grown <= start;
    const behind = grown <= buffer.length - end;
    if (!before && !behind) {
      enlarge(at, size, into);
      return;
    }
    if (before && (left <= right || !behind)) {
      buffer.copyWithin(start - grown, start, start + left);
      start -= grown;
    } else {
      buffer.copyWithin(start + at + into.length, start + at + size, end);
      end += grown;
    }
    buffer.set(into, start + at);
  }

  function enlarge(at: number, size: number, into: Uint8Array): void {
    const room = makeRoom(end - start + into.length - size);
    room.buffer.set(buffer.subarray(start, start + at), room.from);
    room.buffer.set(into, room.from + at);
    room.buffer.set(buffer.subarray(start + at + size, end), room.from + at + into.length);
    ({ buffer, from: start, to: end } = room);
  }

  /** From the last to the first, so that the places of the others stay what they were. */
  function putBack(): void {
    for (const { from, replaced, length: size, shift } of shifted(applied).reverse()) {
      splice(from + shift, size, replaced);
    }
  }

  function patch(patches: readonly BytePatch[]): Uint8Array {
    putBack();
    applied = patches.map(({ from, to, into }) => {
      return { from, replaced: buffer.slice(start + from, start + to), length: into.length };
    });
    for (let i = patches.length - 1; i >= 0; i--) {
      const { from, to, into } = patches[i]!;
      splice(from, to - from, into);
    }
    return buffer.subarray(start, end);
  }

  function pieces(): Uint8Array[] {
    const found: Uint8Array[] = [];
    let at = 0;
    let now = start;
    for (const { from, replaced, length: size } of applied) {
      found.push(buffer.subarray(now, now + from - at), replaced);
      now += from - at + size;
      at = from + replaced.length;
    }
    found.push(buffer.subarray(now, end));
    return found;
  }

  function original(from: number, to: number): Uint8Array {
    let at = 0;
    for (const piece of pieces()) {
      if (from >= at && to <= at + piece.length) return piece.subarray(from - at, to - at);
      at += piece.length;
    }
    return Buffer.concat(pieces()).subarray(from, to);
  }

  return {
    length,
    get isPatched() {
      return applied.length > 0;
    },
    patch,
    original,
    pieces,
  };
}

/** How far each patch stands from its place in the body as it came. */
function shifted(applied: readonly Applied[]): (Applied & { readonly shift: number })[] {
  let shift = 0;
  return applied.map((one) => {
    const placed = { ...one, shift };
    shift += one.length - one.replaced.length;
    return placed;
  });
}
