// Encrypts provider secrets at rest with AES-256-GCM; each box is stored with the id of its encryption key.
// No other file seals or opens a secret. An opened secret stays in memory, here and in the encoded heads of the last
// requests with it, so that each need not be decrypted and encoded anew; it is never logged, stored or published.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { SealedSecret } from "../../actors/key-pool/key-pool.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Opened secrets that stay in memory, so that a request need not decrypt; the oldest is evicted first. */
const OPENED_MAX = 1_000;
/**
 * Longest text in characters that is cached. A provider's secret fits; a stored answer, opened once, need
 * not.
 */
const OPENED_CHARS = 16_384;

/** Thrown by `open` when the secret was sealed with a key that is not configured. */
export class UnknownSecretsKey extends Error {}

/** Seals and opens secrets. */
export interface SecretVault {
  /** Id of the key with which `seal` encrypts. */
  readonly keyId: string;
  seal(secret: string): SealedSecret;
  /** Throws `UnknownSecretsKey` when the key is not configured, and an error when the box was altered. */
  open(sealed: SealedSecret): string;
}

/** Creates a vault. `key` and `old` are 32 bytes in base64; `key` seals and opens, `old` only opens. */
export function createSecretVault(key: string, old: string | null): SecretVault {
  const keys = new Map(
    [key, ...(old === null ? [] : [old])].map((text) => [idOf(text), Buffer.from(text, "base64")]),
  );
  const current = idOf(key);
  const opened = new Map<string, string>();

  return {
    keyId: current,
    seal(secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", keys.get(current)!, nonce);
      const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return { keyId: current, box: Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString("base64") };
    },
    open(sealed) {
      const known = opened.get(sealed.box);
      if (known !== undefined) return known;
      const key = keys.get(sealed.keyId);
      if (key === undefined) {
        throw new UnknownSecretsKey(
          `a secret was sealed with key ${sealed.keyId}, which is neither SECRETS_KEY nor SECRETS_KEY_OLD`,
        );
      }
      const box = Buffer.from(sealed.box, "base64");
      const decipher = createDecipheriv("aes-256-gcm", key, box.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(box.subarray(-TAG_BYTES));
      const secret = `${decipher.update(box.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8")}${decipher.final("utf8")}`;
      if (secret.length > OPENED_CHARS) return secret;
      if (opened.size >= OPENED_MAX) opened.delete(opened.keys().next().value!);
      opened.set(sealed.box, secret);
      return secret;
    },
  };
}

/** Returns the first 3 and the last 4 characters of a secret, the only part of it that is ever shown. */
export const maskOf = (secret: string): string =>
  // Spreading counts code points, so that no surrogate pair is split.
  `${[...secret.slice(0, 6)].slice(0, 3).join("")}…${[...secret.slice(-8)].slice(-4).join("")}`;

const idOf = (key: string): string =>
  createHash("sha256").update(Buffer.from(key, "base64")).digest("hex").slice(0, 8);
