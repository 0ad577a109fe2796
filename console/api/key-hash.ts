// Which of an account's API keys is signed in: lists show the beginning of each key's SHA-256. The browser's own digest exists on
// secure origins alone, and a service in a company's network may have none, so the hash is computed here.

const BLOCK_BYTES = 64;
const WORDS = 64;

/** The first 32 bits of the fractional part of a root of the n-th prime. */
const rootBits = (prime: number, power: number): number => (prime ** power * 2 ** 32) | 0;

const PRIMES = Array.from({ length: 312 }, (_, at) => at).filter(
  (one) => one > 1 && Array.from({ length: one }, (_, at) => at).every((at) => at < 2 || one % at !== 0),
);
const START = PRIMES.slice(0, 8).map((prime) => rootBits(prime, 1 / 2));
const ROUND = PRIMES.slice(0, WORDS).map((prime) => rootBits(prime, 1 / 3));

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** Returns the message with its padding: a 1 bit, zeros, and its length in bits. */
function padded(message: Uint8Array): DataView {
  const blocks = Math.ceil((message.length + 9) / BLOCK_BYTES);
  const bytes = new Uint8Array(blocks * BLOCK_BYTES);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(bytes.length - 4, message.length * 8);
  return view;
}

/** Returns the 64 words of the schedule of the block that begins at `from`. */
function scheduleOf(view: DataView, from: number): Int32Array {
  const words = new Int32Array(WORDS);
  for (let at = 0; at < 16; at++) words[at] = view.getInt32(from + at * 4);
  for (let at = 16; at < WORDS; at++) {
    const early = words[at - 15]!;
    const late = words[at - 2]!;
    const one = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const other = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[at] = words[at - 16]! + one + words[at - 7]! + other;
  }
  return words;
}

/** Returns the SHA-256 (FIPS 180-4) of a text as 64 hexadecimal digits. */
export function sha256(text: string): string {
  const view = padded(new TextEncoder().encode(text));
  const hash = Int32Array.from(START);
  for (let from = 0; from < view.byteLength; from += BLOCK_BYTES) {
    const words = scheduleOf(view, from);
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
    for (let at = 0; at < WORDS; at++) {
      const mixed = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const choice = (e & f) ^ (~e & g);
      const first = (h + mixed + choice + ROUND[at]! + words[at]!) | 0;
      const turned = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      [h, g, f, e, d, c, b] = [g, f, e, (d + first) | 0, c, b, a];
      a = (first + turned + majority) | 0;
    }
    for (const [at, word] of [a, b, c, d, e, f, g, h].entries()) hash[at] = hash[at]! + word;
  }
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Returns the public part of an API key, as lists of keys show it. */
export const publicKeyOf = (key: string): string => `pk-${sha256(key).slice(0, 16)}`;
