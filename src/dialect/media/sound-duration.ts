// How long a sound is, from what can be seen without decoding it: a WAV by its header, an MP3 by the rate in its first frame,
// a voice message by its last page, anything else by what its form usually needs per second.

import { wavSeconds } from "./wav-duration.ts";

/**
 * Bytes per second of what speech models give, by form. Compressed forms rather too many than too few: an estimate is in the
 * client's favour.
 */
const BYTES_PER_SECOND: ReadonlyMap<string, number> = new Map([
  // 24,000 samples of 16 bits.
  ["pcm", 48_000],
  ["wav", 48_000],
  ["flac", 24_000],
  ["mp3", 20_000],
  ["aac", 16_000],
  ["opus", 8_000],
]);
const UNKNOWN_BYTES_PER_SECOND = 20_000;

/** Seconds of a sound that a model spoke. */
export function spokenSeconds(form: string, bytes: number, beginning: Uint8Array): number {
  const rate = mp3Rate(beginning) ?? BYTES_PER_SECOND.get(form) ?? UNKNOWN_BYTES_PER_SECOND;
  return wavSeconds(beginning, bytes) ?? bytes / rate;
}

/** Of a file whose form nobody knows: 32 kbit/s, below which hardly anybody sends speech. */
const LEAST_BYTES_PER_SECOND = 4_000;

/** The most seconds that a file that was sent may sound. A page could say too little, so that it only ever adds. */
export const secondsAtMost = (file: Uint8Array): number =>
  Math.max(file.length / LEAST_BYTES_PER_SECOND, opusSeconds(file));

/** What follows the first page's head: voice messages are Opus in Ogg, at half the rate above. */
const OPUS_HEAD_AT = 28;
const OPUS_SAMPLES_PER_SECOND = 48_000;
/** More than any file that can be sent holds. */
const OPUS_SECONDS_MAX = 360_000;

/** By the samples that the last page counts; 0: it is no Opus in Ogg. */
function opusSeconds({ buffer, byteOffset, length }: Uint8Array): number {
  const file = Buffer.from(buffer, byteOffset, length);
  if (file.toString("latin1", OPUS_HEAD_AT, OPUS_HEAD_AT + 8) !== "OpusHead") return 0;
  const page = file.lastIndexOf("OggS");
  if (page === -1 || page + 14 > length) return 0;
  const samples = Number(file.readBigInt64LE(page + 6));
  return Math.min(Math.max(0, samples / OPUS_SAMPLES_PER_SECOND), OPUS_SECONDS_MAX);
}

/** kbit/s of MPEG layer III by the index in the frame's head: version 1, then versions 2 and 2.5. */
const MPEG_RATES: readonly (readonly number[])[] = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const LAYER_3 = 0b01;
const VERSION_1 = 0b11;

/** Bytes per second by the first frame of an MP3, behind its tag if it has one; null: it is none. */
function mp3Rate(file: Uint8Array): number | null {
  const at = file[0] === 73 && file[1] === 68 && file[2] === 51 ? tagEnd(file) : 0;
  const [first = 0, second = 0, third = 0] = file.subarray(at, at + 3);
  if (first !== 0xff || (second & 0xe0) !== 0xe0 || ((second >> 1) & 3) !== LAYER_3) return null;
  const rate = MPEG_RATES[((second >> 3) & 3) === VERSION_1 ? 0 : 1]![third >> 4] ?? 0;
  return rate > 0 ? rate * 125 : null;
}

/** Its length stands in four times seven bits. */
const tagEnd = (file: Uint8Array): number =>
  10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((file[at] ?? 0) & 127), 0);
