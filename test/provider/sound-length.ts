// How long a sound is: exact for WAV, guessed from the size of anything else.

/** Bytes of a second of a sound that is not understood: 32 kbit/s. */
const BYTES_PER_SECOND = 4000;

/** Seconds, with a fraction. */
export function soundSeconds(bytes: Buffer): number {
  return wavSeconds(bytes) ?? bytes.length / BYTES_PER_SECOND;
}

/** Null when it is no WAV with a rate and data. */
function wavSeconds(bytes: Buffer): number | null {
  if (bytes.length < 12 || bytes.toString("latin1", 0, 4) !== "RIFF") return null;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString("latin1", at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    if (name === "fmt " && at + 20 <= bytes.length) bytesPerSecond = bytes.readUInt32LE(at + 16);
    if (name === "data" && bytesPerSecond > 0) return size / bytesPerSecond;
    at += 8 + size + (size & 1);
  }
  return null;
}
