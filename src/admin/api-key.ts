// Makes API keys: `sk-` and 48 characters of base62 from the CSPRNG. A key is shown once and stored only as
// SHA-256 (contract section 3).

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH = 48;
/**
 * The largest multiple of 62 in a byte. Larger bytes are discarded, so that every character is equally
 * likely.
 */
const FAIR = 248;

/** Returns a new random API key. */
export function newApiKey(): string {
  let text = "sk-";
  while (text.length < LENGTH + 3) {
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      if (byte < FAIR && text.length < LENGTH + 3) text += BASE62[byte % 62];
    }
  }
  return text;
}
