// Finds the key that encrypts provider secrets: SECRETS_KEY, or on SQLite a file beside the database, which
// is created once. Nodes of a cluster share no files, so there the setting is required.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isMongodb } from "../settings/connection-url.ts";
import { BadSetting, type Settings } from "../settings/settings.ts";
import { databasePath, MEMORY } from "../store/sqlite/sqlite-store.ts";

type Given = Pick<Settings, "secretsKey" | "storeUrl">;

/**
 * Returns the key: 32 bytes in base64. Creates the file if there is none. Throws BadSetting on MongoDB
 * without the setting, and when the file holds something else.
 */
export function secretsKey(settings: Given): string {
  if (settings.secretsKey !== null) return settings.secretsKey;
  const file = secretsFile(settings);
  const fresh = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
  if (file === null) return fresh();
  if (!existsSync(file)) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, `${fresh()}\n`, { mode: 0o600, flag: "wx" });
  }
  const key = readFileSync(file, "utf8").trim();
  if (Buffer.from(key, "base64").length !== 32)
    throw new BadSetting(`${file} does not hold 32 bytes in base64`);
  return key;
}

/**
 * Returns the path of the key file; null for a database in memory, whose key exists only in the process.
 * Throws BadSetting on MongoDB.
 */
export function secretsFile({ storeUrl }: Given): string | null {
  if (isMongodb(storeUrl)) {
    throw new BadSetting(
      "SECRETS_KEY is needed on MongoDB, the same in every node. Make one with: openssl rand -base64 32",
    );
  }
  const path = databasePath(storeUrl);
  return path === MEMORY ? null : join(dirname(path), "secrets.key");
}
