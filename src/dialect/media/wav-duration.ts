// How long a WAV file sounds, by its header: exact for plain samples, unknown for everything else. Looks at the heads of
// chunks alone, however large the file is.

/** Codecs whose samples have one size each: whole numbers, fractions, and the two laws of telephony. */
const PLAIN: ReadonlySet<number> = new Set([1, 3, 6, 7]);
/** The codec stands further back. */
const EXTENSIBLE = 0xfffe;
/** A file with more chunks before its sound is none that anybody made. */
const CHUNKS_MAX = 100;

/** Bytes of sound per second, and where they begin. */
interface Heard {
  readonly bytesPerSecond: number;
  readonly from: number;
  readonly stated: number;
}

/**
 * Seconds of sound; null when the file is no WAV, or of a codec whose size says nothing. `bytes` is the size of the file
 * where `file` is its beginning alone. A header that states more than there is, or nothing (as one written on the fly does),
 * gives what there is; so does one behind whose sound there is more of it.
 */
export function wavSeconds(file: Uint8Array, bytes: number = file.length): number | null {
  const heard = heardIn(new DataView(file.buffer, file.byteOffset, file.byteLength), bytes);
  if (heard === null) return null;
  const { from, stated, bytesPerSecond } = heard;
  const there = Math.max(0, bytes - from);
  // Players go on to the next chunk of sound.
  const goesOn = Buffer.from(file.buffer, file.byteOffset, file.length).includes("data", from + stated);
  return (stated === 0 || goesOn ? there : Math.min(stated, there)) / bytesPerSecond;
}

function heardIn(view: DataView, bytes: number): Heard | null {
  if (view.byteLength < 12 || tag(view, 0) !== "RIFF" || tag(view, 8) !== "WAVE") return null;
  let bytesPerSecond: number | null = null;
  let at = 12;
  for (let chunk = 0; chunk < CHUNKS_MAX && at + 8 <= view.byteLength; chunk++) {
    const name = tag(view, at);
    const size = view.getUint32(at + 4, true);
    if (name === "data") {
      return bytesPerSecond === null ? null : { bytesPerSecond, from: at + 8, stated: Math.min(size, bytes) };
    }
    if (name === "fmt " && at + 24 <= view.byteLength) bytesPerSecond = rateOf(view, at + 8, size);
    at += 8 + size + (size % 2);
  }
  return null;
}

/** Worked out from the samples: a stated rate of bytes could be anything. */
function rateOf(view: DataView, at: number, size: number): number | null {
  const stated = view.getUint16(at, true);
  const isExtensible = stated === EXTENSIBLE && size >= 40 && at + 26 <= view.byteLength;
  const codec = isExtensible ? view.getUint16(at + 24, true) : stated;
  const channels = view.getUint16(at + 2, true);
  const samples = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  const rate = samples * channels * Math.ceil(bits / 8);
  return PLAIN.has(codec) && rate > 0 ? rate : null;
}

const tag = (view: DataView, at: number): string =>
  String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));
