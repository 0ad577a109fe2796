// Patches a body's bytes in place, in a buffer with free room before and after them, by moving the shorter
// side. Each set of patches refers to the original body; an earlier set is undone first.

/** The range of a body in a buffer, whose other bytes are free. */
export interface BodyBytes {
  readonly buffer: Uint8Array;
  readonly from: number;
  readonly to: number;
}

/** Replaces the range from `from` to `to` of the original body. Patches are in order and do not overlap. */
export interface BytePatch {
  readonly from: number;
  readonly to: number;
  readonly into: Uint8Array;
}

/** A body that can be patched. */
export interface PatchedBytes {
  /** Bytes of the original body. */
  readonly length: number;
  readonly isPatched: boolean;
  /** Returns the body with these patches and no others, as a view that the next call changes. */
  patch(patches: readonly BytePatch[]): Uint8Array;
  /** Returns a range of the original body, as a view; it is copied only if it overlaps a patch in part. */
  original(from: number, to: number): Uint8Array;
  /** Returns the whole original body in order, split at patches only. */
  pieces(): readonly Uint8Array[];
  /** Undoes all patches and returns the original body. Its new owner must not keep this patcher. */
  release(): BodyBytes;
}

/** Free bytes on each side, enough for a model's name and a few fields. */
export const ROOM_BYTES = 4_096;

/** A buffer for a body, whose memory is its own. */
interface Room extends BodyBytes {
  readonly buffer: Uint8Array<ArrayBuffer>;
}

/** Allocates a buffer for a body of `length` bytes. */
export function makeRoom(length: number): Room {
  return { buffer: new Uint8Array(length + 2 * ROOM_BYTES), from: ROOM_BYTES, to: ROOM_BYTES + length };
}

/** A patch that is applied to the buffer, with the bytes that it replaced. */
interface Applied {
  readonly from: number;
  readonly replaced: Uint8Array;
  readonly length: number;
}

/** Creates the patcher of a body, which owns the buffer from then on. */
export function patchedBytes(body: BodyBytes): PatchedBytes {
  let { buffer, from: start, to: end } = body;
  const length = end - start;
  let applied: readonly Applied[] = [];

  /** Replaces `size` bytes at `at` by `into`; `at` counts from the beginning of the current body. */
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

  /** Undoes the patches, from last to first, so that the positions of the others stay valid. */
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
    release() {
      putBack();
      applied = [];
      return { buffer, from: start, to: end };
    },
  };
}

/** Returns the patches with the distance of each from its position in the original body. */
function shifted(applied: readonly Applied[]): (Applied & { readonly shift: number })[] {
  let shift = 0;
  return applied.map((one) => {
    const placed = { ...one, shift };
    shift += one.length - one.replaced.length;
    return placed;
  });
}
