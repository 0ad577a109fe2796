// The key that seals provider secrets: SECRETS_KEY, or on the embedded store a file beside the database, made once.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BadSetting, type Settings } from "./settings.ts";
import { databasePath, MEMORY } from "./store/sqlite.ts";

/** 32 bytes in base64. Throws BadSetting when the file holds something else. */
export function secretsKey(settings: Settings): string {
  if (settings.secretsKey !== null) return settings.secretsKey;
  const path = databasePath(settings.storeUrl);
  const fresh = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
  if (path === MEMORY) return fresh();
  const file = join(dirname(path), "secrets.key");
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${fresh()}\n`, { mode: 0o600, flag: "wx" });
  }
  const key = readFileSync(file, "utf8").trim();
  if (Buffer.from(key, "base64").length !== 32)
    throw new BadSetting(`${file} does not hold 32 bytes in base64`);
  return key;
}
