// Determines the duration of audio without decoding it: WAV by its header, MP3 by the bit rate of its first
// frame, Opus in Ogg by its last page, and other formats by their usual bytes per second.

import { wavSeconds } from "./wav-duration.ts";

/**
 * Bytes per second of the output of speech models, by format. The values of compressed formats are high, so
 * that an estimated duration is in the client's favor.
 */
const BYTES_PER_SECOND: ReadonlyMap<string, number> = new Map([
  // 24,000 samples of 16 bits each.
  ["pcm", 48_000],
  ["wav", 48_000],
  ["flac", 24_000],
  ["mp3", 20_000],
  ["aac", 16_000],
  ["opus", 8_000],
]);
const UNKNOWN_BYTES_PER_SECOND = 20_000;

/** Returns the seconds of generated speech. `bytes` is its size; `beginning` are its first bytes. */
export function spokenSeconds(form: string, bytes: number, beginning: Uint8Array): number {
  const rate = mp3Rate(beginning) ?? BYTES_PER_SECOND.get(form) ?? UNKNOWN_BYTES_PER_SECOND;
  return wavSeconds(beginning, bytes) ?? bytes / rate;
}

/** Bytes per second of a file in an unknown format: 32 kbit/s, a low rate for speech. */
const LEAST_BYTES_PER_SECOND = 4_000;

/**
 * Returns an upper bound of the seconds of an uploaded file. A page may state too little, so it only raises
 * the bound.
 */
export const secondsAtMost = (file: Uint8Array): number =>
  Math.max(file.length / LEAST_BYTES_PER_SECOND, opusSeconds(file));

/**
 * Offset of the Opus header after the first page's head. Voice messages are Opus in Ogg, at about half the
 * rate above.
 */
const OPUS_HEAD_AT = 28;
const OPUS_SAMPLES_PER_SECOND = 48_000;
/** Limit in seconds; no file that can be uploaded is longer. */
const OPUS_SECONDS_MAX = 360_000;

/**
 * Returns the seconds by the sample position of the last page. Returns 0 when the file is not Opus in Ogg.
 */
function opusSeconds({ buffer, byteOffset, length }: Uint8Array): number {
  const file = Buffer.from(buffer, byteOffset, length);
  if (file.toString("latin1", OPUS_HEAD_AT, OPUS_HEAD_AT + 8) !== "OpusHead") return 0;
  const page = file.lastIndexOf("OggS");
  if (page === -1 || page + 14 > length) return 0;
  const samples = Number(file.readBigInt64LE(page + 6));
  return Math.min(Math.max(0, samples / OPUS_SAMPLES_PER_SECOND), OPUS_SECONDS_MAX);
}

/**
 * Bit rates in kbit/s of MPEG layer III by the index in the frame header: version 1, then versions 2 and 2.5.
 */
const MPEG_RATES: readonly (readonly number[])[] = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const LAYER_3 = 0b01;
const VERSION_1 = 0b11;

/**
 * Returns the bytes per second by the first frame of an MP3, after an optional ID3 tag, or null for other
 * formats.
 */
function mp3Rate(file: Uint8Array): number | null {
  const at = file[0] === 73 && file[1] === 68 && file[2] === 51 ? tagEnd(file) : 0;
  const [first = 0, second = 0, third = 0] = file.subarray(at, at + 3);
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || ((second >> 1) & 3) !== LAYER_3) return null;
  const rate = MPEG_RATES[((second >> 3) & 3) === VERSION_1 ? 0 : 1]![third >> 4] ?? 0;
  return rate > 0 ? rate * 125 : null;
}

/** Returns the end of an ID3 tag, whose length has four groups of seven bits. */
const tagEnd = (file: Uint8Array): number =>
  10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((file[at] ?? 0) & 127), 0);
