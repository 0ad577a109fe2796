// `check`: says what a start would find, one line each, and changes nothing. The first thing that cannot work is thrown
// as BadSetting: one clear line and exit code 2.

import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { BadSetting, type Settings } from "../settings.ts";
import { databasePath, MEMORY } from "../store/sqlite.ts";
import { databaseFacts } from "../store/sqlite-backup.ts";
import { orRefuse } from "./refusal.ts";

export async function check(settings: Settings): Promise<void> {
  console.log("settings  valid");
  console.log(`store     ${await orRefuse(() => store(settings.storeUrl))}`);
  console.log(`secrets   ${secrets(settings)}`);
  console.log("cluster   none: one process, messages stay in memory");
}

function store(url: string): string {
  const path = databasePath(url);
  if (path === MEMORY) return `${url}: in memory, gone with the process`;
  if (!existsSync(path)) {
    accessSync(nearest(dirname(path)), constants.W_OK);
    return `${url}: not there yet, the first start makes it`;
  }
  accessSync(path, constants.R_OK | constants.W_OK);
  const { schema, known, commits } = databaseFacts(path);
  if (schema === 0) return `${url}: empty, the first start fills it`;
  const migrates = schema < known ? `, the next start brings it to ${known}` : "";
  return `${url}: reachable, schema version ${schema}${migrates}, ${commits} commits`;
}

/** The directory, or the one above it in which it would be made. */
function nearest(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory ? directory : nearest(dirname(directory));
}

function secrets(settings: Settings): string {
  const path = databasePath(settings.storeUrl);
  if (settings.secretsKey !== null) {
    return `SECRETS_KEY is set${settings.secretsKeyOld === null ? "" : ", and SECRETS_KEY_OLD beside it"}`;
  }
  if (path === MEMORY) return "a key of the process alone";
  const file = join(dirname(path), "secrets.key");
  if (existsSync(file)) return `the key in ${file}`;
  // Provider secrets are sealed with a key: a database without it has lost them.
  if (existsSync(path)) throw new BadSetting(`SECRETS_KEY is not set, and ${file} is not there`);
  return `none yet, the first start makes ${file}`;
}
