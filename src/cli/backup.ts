// `backup` and `restore`: copies of the SQLite database. Provider secrets in them stay encrypted; the key is
// not included.

import { resolve } from "node:path";
import { BadSetting, type Settings } from "../settings/settings.ts";
import { backupDatabase, databaseFacts, restoreDatabase } from "../store/sqlite/backup.ts";
import { databasePath, MEMORY } from "../store/sqlite/sqlite-store.ts";
import { orRefuse } from "./user-error.ts";

/**
 * Copies the database to `file`, also while a server runs. Prints the result. Throws BadSetting on other
 * stores and for files that cannot be used.
 */
export async function backup(settings: Settings, file: string): Promise<void> {
  const path = embedded(settings, "backup", "mongodump");
  const target = resolve(file);
  await orRefuse(() => backupDatabase(path, target));
  const { commits } = await orRefuse(() => databaseFacts(target));
  console.log(`${target}: ${commits} commits of ${path}`);
  if (settings.secretsKey === null)
    console.log("Keep secrets.key, which opens its provider secrets, apart from it.");
}

/**
 * Replaces the database by a checked copy of `file`, and keeps the former database under another name. Prints
 * the result. Throws BadSetting on other stores and for unusable files.
 */
export async function restore(settings: Settings, file: string): Promise<void> {
  const path = embedded(settings, "restore", "mongorestore");
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const { aside } = await orRefuse(() => restoreDatabase(path, resolve(file), stamp));
  const { commits } = await orRefuse(() => databaseFacts(path));
  console.log(`${path}: ${commits} commits of ${resolve(file)}`);
  if (aside.length > 0) console.log(`The database that was there is kept as ${aside.join(" and ")}`);
  console.log("Run verify, then start the server.");
}

function embedded({ storeUrl }: Settings, command: string, tool: string): string {
  if (!storeUrl.startsWith("sqlite:")) {
    throw new BadSetting(`${command} is for SQLite; for MongoDB use ${tool} (with --oplog on a replica set)`);
  }
  const path = databasePath(storeUrl);
  if (path === MEMORY) throw new BadSetting(`${command} needs a database in a file, not ${storeUrl}`);
  return path;
}
