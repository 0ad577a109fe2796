// Finds the key that encrypts provider secrets: SECRETS_KEY, or on SQLite a file beside the database, which
// is created once. Nodes of a cluster share no files, so there the setting is required.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isMongodb } from "../settings/connection-url.ts";
import { BadSetting, type Settings } from "../settings/settings.ts";
import { databaseFacts, syncDirectory, syncToDisk } from "../store/sqlite/backup.ts";
import { lockDatabase } from "../store/sqlite/lock.ts";
import { databasePath, MEMORY } from "../store/sqlite/sqlite-store.ts";

type Given = Pick<Settings, "secretsKey" | "storeUrl">;

/**
 * Returns the key: 32 bytes in base64. Creates the file if there is none. Throws BadSetting on MongoDB
 * without the setting, when the file holds something else, and when the file of a database is lost.
 */
export function secretsKey(settings: Given): string {
  if (settings.secretsKey !== null) return settings.secretsKey;
  const file = secretsFile(settings);
  const fresh = () => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64");
  if (file === null) return fresh();
  if (!existsSync(file)) {
    assertKeyNotLost(settings, file);
    // Without the lock two first starts on one database could make two keys.
    const lock = lockDatabase(databasePath(settings.storeUrl));
    try {
      if (!existsSync(file)) writeKey(file, fresh());
    } finally {
      lock.release();
    }
  }
  const key = readFileSync(file, "utf8").trim();
  if (Buffer.from(key, "base64").length !== 32)
    throw new BadSetting(`${file} does not hold 32 bytes in base64`);
  return key;
}

/**
 * Throws BadSetting for a database with commits: its provider secrets are sealed with the key that is not there, and a new key could
 * open none of them.
 */
export function assertKeyNotLost({ storeUrl }: Given, file: string): void {
  const path = databasePath(storeUrl);
  if (existsSync(path) && databaseFacts(path).commits > 0)
    throw new BadSetting(`SECRETS_KEY is not set, and ${file} is not there`);
}

/** A crash leaves the whole key or none. */
function writeKey(file: string, key: string): void {
  const partial = `${file}.partial`;
  writeFileSync(partial, `${key}\n`, { mode: 0o600 });
  syncToDisk(partial);
  renameSync(partial, file);
  syncDirectory(file);
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
