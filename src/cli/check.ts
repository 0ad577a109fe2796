// `check`: prints what a start would find, one line per subject, and changes nothing. The first problem that
// would make a start fail is thrown as BadSetting: one clear line and exit code 2.

import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { composed } from "../../actors/account-name.ts";
import { realClock } from "../base/clock.ts";
import { natsFacts } from "../bus/nats-connection.ts";
import { spoolsIn } from "../node/left-spools.ts";
import { withFilesOf } from "../node/own-files.ts";
import { assertKeyNotLost, secretsFile, secretsKey } from "../node/secrets-key.ts";
import { isMongodb, shownAddress } from "../settings/connection-url.ts";
import { BadSetting, type Settings } from "../settings/settings.ts";
import { type MongoFacts, mongoFacts } from "../store/mongo/schema.ts";
import { openStore } from "../store/open.ts";
import { databaseFacts } from "../store/sqlite/backup.ts";
import { databasePath, MEMORY } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { assertCanShare } from "../supervisor/port-share.ts";
import { orRefuse } from "./user-error.ts";

/** Milliseconds to wait for MongoDB; short, because a person waits. */
const PATIENCE_MS = 5_000;

/**
 * Checks settings, store, secrets and NATS, and prints one line for each. Throws BadSetting for the first
 * that cannot work.
 */
export async function checkSetup(settings: Settings): Promise<void> {
  const { storeUrl, natsUrl, processes } = settings;
  assertCanShare(settings, process.platform);
  console.log("settings  valid");
  const store = await orRefuse(() => (isMongodb(storeUrl) ? mongodb(storeUrl) : sqlite(storeUrl)));
  console.log(`store     ${store.line}`);
  console.log(`secrets   ${await withFilesOf("STORE_URL", () => secrets(settings))}`);
  console.log(`spool     ${await withFilesOf("SPOOL_DIR", () => spool(settings))}`);
  console.log(`cluster   ${natsUrl === null ? alone(storeUrl) : await orRefuse(() => nats(natsUrl))}`);
  if (processes > 1) console.log(`processes ${processes} share the ports, each a node of the cluster`);
  if (store.isCurrent) for (const line of await orRefuse(() => names(storeUrl))) console.log(line);
}

/** What a check reports about a store. */
interface Found {
  readonly line: string;
  /** True when the store has this program's schema version. */
  readonly isCurrent: boolean;
}

const notYet = (line: string): Found => ({ line, isCurrent: false });

/** Returns one line per name that several accounts have in different Unicode encodings. */
async function names(url: string): Promise<string[]> {
  const store = await openStore(url, { clock: realClock(), readOnly: true });
  try {
    return (await alikeNames(store)).map(
      ({ name, accounts }) =>
        `names     accounts ${accounts.join(", ")} are all called "${name}", in different encodings: use their ids`,
    );
  } finally {
    await store.close();
  }
}

function sqlite(url: string): Found {
  const path = databasePath(url);
  if (path === MEMORY) return notYet(`${url}: in memory, gone with the process`);
  if (!existsSync(path)) {
    accessSync(nearest(dirname(path)), constants.W_OK);
    return notYet(`${url}: not there yet, the first start makes it`);
  }
  accessSync(path, constants.R_OK | constants.W_OK);
  const { schema, known, commits } = databaseFacts(path);
  if (schema === 0) return notYet(`${url}: empty, the first start fills it`);
  const line = `${url}: reachable, schema version ${schema}${migrates(schema, known)}, ${commits} commits`;
  return { line, isCurrent: schema === known };
}

const migrates = (schema: number, known: number): string =>
  schema < known ? `, the next start brings it to ${known}` : "";

async function mongodb(url: string): Promise<Found> {
  const facts = await mongoFacts(url, { clock: realClock(), readOnly: true, deadlineMs: PATIENCE_MS });
  const { version, schema, known, commits } = facts;
  if (schema > known) {
    throw new BadSetting(`the database has version ${schema}, this program needs ${known}`);
  }
  const filled =
    schema === 0
      ? "empty, the first start fills it"
      : `schema version ${schema}${migrates(schema, known)}, ${commits} commits`;
  const line = [
    `${shownAddress(url)}: reachable, MongoDB ${version}`,
    kindOf(facts),
    filled,
    ...missing(facts),
  ].join(", ");
  return { line, isCurrent: schema === known };
}

function kindOf({ replicaSet, sharded }: MongoFacts): string {
  if (sharded) return "a sharded cluster";
  return replicaSet === null ? "no replica set (what its disk loses is lost)" : `replica set ${replicaSet}`;
}

const missing = ({ schema, missingIndexes }: MongoFacts): string[] =>
  schema === 0 || missingIndexes.length === 0
    ? []
    : [`the next start makes its missing indexes (${missingIndexes.join("; ")})`];

async function nats(url: string): Promise<string> {
  const { version } = await natsFacts(url);
  return `${shownAddress(url)}: reachable, nats-server ${version}`;
}

const alone = (storeUrl: string): string =>
  isMongodb(storeUrl)
    ? "none: without NATS_URL this must be the only process on its database"
    : "none: one process, messages stay in memory";

/** Returns the directory, or its nearest ancestor that exists, in which it would be created. */
function nearest(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory ? directory : nearest(dirname(directory));
}

function spool({ spoolDir }: Pick<Settings, "spoolDir">): string {
  const directory = resolve(spoolDir);
  // The name behind the slash is that of the directory itself: a file has none.
  const access = (path: string) => accessSync(`${path}/.`, constants.R_OK | constants.W_OK | constants.X_OK);
  access(nearest(directory));
  if (!existsSync(directory)) return `${directory}: not there yet, the first start makes it`;
  const spools = spoolsIn(directory);
  spools.forEach(access);
  const charges = spools.flatMap((path) => readdirSync(path)).filter((name) => name.endsWith(".json"));
  return `${directory}: ${charges.length} charges wait for the ledger`;
}

function secrets(settings: Settings): string {
  if (settings.secretsKey !== null) {
    return `SECRETS_KEY is set${settings.secretsKeyOld === null ? "" : ", and SECRETS_KEY_OLD beside it"}`;
  }
  const file = secretsFile(settings);
  if (file === null) return "a key of the process alone";
  if (existsSync(file)) {
    secretsKey(settings);
    return `the key in ${file}`;
  }
  assertKeyNotLost(settings, file);
  return `none yet, the first start makes ${file}`;
}

/** A name, and the accounts that have it. */
interface AlikeNames {
  /** The name in NFC and lower case. */
  readonly name: string;
  readonly accounts: readonly number[];
}

/**
 * Returns names that are equal in Unicode NFC but encoded differently by several accounts. They are older than
 * the rule that forbids it, and they work, but the operator may want to know. It reads the accounts table once;
 * account ids are in ascending order.
 */
async function alikeNames(store: Pick<Store, "scan">): Promise<readonly AlikeNames[]> {
  const byName = new Map<string, number[]>();
  const open = { field: "closed", is: "=", value: 0 } as const;
  for await (const { id, nameLower } of store.scan({ table: "accounts", where: [open], order: "id" })) {
    const name = composed(String(nameLower));
    // A name with only one encoding cannot collide.
    if (name === name.normalize("NFD")) continue;
    byName.set(name, [...(byName.get(name) ?? []), Number(id)]);
  }
  return [...byName].flatMap(([name, accounts]) => (accounts.length > 1 ? [{ name, accounts }] : []));
}
