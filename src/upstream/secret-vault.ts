// Provider secrets at rest: AES-256-GCM with the id of the key beside each box. The only place that seals or opens one.
// An opened secret is handed to one attempt; it is never logged, stored or published.

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import type { SealedSecret } from "../../actors/key-pool/key-pool.ts";

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Opened secrets kept in memory, so that a request does not decrypt anew. Over it the oldest goes. */
const OPENED_MAX = 1_000;
/** Characters of a text worth keeping so: a provider's secret is, an answer kept for a repeat is opened once. */
const OPENED_CHARS = 16_384;

/** A secret is in a box of a key that is not at hand. */
export class UnknownSecretsKey extends Error {}

export interface SecretVault {
  /** Id of the key that seals. */
  readonly keyId: string;
  seal(secret: string): SealedSecret;
  /** Throws when no key at hand opens it. */
  open(sealed: SealedSecret): string;
}

/** `key` and `old`: 32 bytes in base64. New boxes use `key`; `old` only opens. */
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

/** First 3 and last 4 characters: all of a secret that is ever shown. */
export const maskOf = (secret: string): string =>
  // The cuts lie between characters: half of one is no text.
  `${[...secret.slice(0, 6)].slice(0, 3).join("")}…${[...secret.slice(-8)].slice(-4).join("")}`;

const idOf = (key: string): string =>
  createHash("sha256").update(Buffer.from(key, "base64")).digest("hex").slice(0, 8);
