// Determines the duration of a WAV file by its header: exactly for uncompressed samples, not at all for other
// codecs. It reads only chunk headers, however large the file is.

/** Codecs with samples of constant size: integer PCM, floating point, A-law and mu-law. */
const PLAIN: ReadonlySet<number> = new Set([1, 3, 6, 7]);
/** The extensible format, whose codec is in a later field. */
const EXTENSIBLE = 0xfffe;
/** Chunks that are searched for the audio data. */
const CHUNKS_MAX = 100;

/** Bytes per second of the audio data, its offset, and its stated size. */
interface WavHeader {
  readonly bytesPerSecond: number;
  readonly from: number;
  readonly stated: number;
}

/**
 * Returns the seconds of a WAV file, or null when it is not WAV or its codec has no constant sample size.
 * `bytes` is the size of the file if `file` is only its beginning. The actual size of the data counts if the
 * header states more or 0 (as streaming writers do), or if another data chunk follows.
 */
export function wavSeconds(file: Uint8Array, bytes: number = file.length): number | null {
  const header = readWavHeader(new DataView(file.buffer, file.byteOffset, file.byteLength), bytes);
  if (header === null) return null;
  const { from, stated, bytesPerSecond } = header;
  const there = Math.max(0, bytes - from);
  // Players continue with a further data chunk.
  const goesOn = Buffer.from(file.buffer, file.byteOffset, file.length).includes("data", from + stated);
  return (stated === 0 || goesOn ? there : Math.min(stated, there)) / bytesPerSecond;
}

function readWavHeader(view: DataView, bytes: number): WavHeader | null {
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

/**
 * Computes the byte rate from the sample format, because the stated byte rate may be wrong. Returns null if
 * unknown.
 */
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
