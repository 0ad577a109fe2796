// What becomes of a request whose encrypted reasoning belongs to another organization, by hand. Such reasoning is in requests
// of the responses style alone, and it reaches only providers that have their path: a translation never sends it.

import { answered, passed, type Sheet } from "./rows.ts";

export const FOREIGN_SHEETS: Readonly<Record<string, Sheet>> = {
  // Asked once more without it, at the same key.
  "organization=south": { ...answered(), attempts: 2 },
  // Refused without it as well: the provider's own word, and no other key is asked.
  "fault=400.encrypted": { ...passed(400, "invalid_encrypted_content"), attempts: 2 },
};
