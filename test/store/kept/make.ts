// Makes the store fixtures of this version anew: sh scripts/bun.sh test/store/kept/make.ts [sqlite|mongodb]
// Runs the real service with the stand-in providers on each store, kills it twice, and leaves the store and what the service
// then says of it in test/fixtures/store-v5. A fixture of a released version never changes: a later one has its own directory.

import { Database } from "bun:sqlite";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { dropDatabase, newDatabase, startMongo } from "../mongo-server.ts";
import { cutLine } from "../tcp.ts";
import { type Kind, pack, storeUrl, trailing, unpack } from "./archive.ts";
import { agreed, type Credentials, factsOf } from "./facts.ts";
import { startProviders } from "./providers.ts";
import { firstDay, lastRequests, nothingMade, type Scenario, thirdDay } from "./scenario.ts";
import { cli, type Json, type Running, serve, type Where } from "./service.ts";

const HERE = join(import.meta.dirname, "../../fixtures/store-v5");
const SECRETS_KEY = readFileSync(join(HERE, "secrets.key"), "utf8").trim();
const ROOT_KEY = "root-key-of-the-kept-store-fixture-0005";
/** Business time: late, since the clock of a service is never set back. No offset is more than ten years. */
const BEGIN = Date.parse("2034-06-05T10:00:00Z");
const DAY_MS = 86_400_000;
/** The name of a store's collection or table, the line by which a transfer arrives, and where. */
const ARRIVES = '"type":"transfer_in"';

/** Keeps a transfer from its receiver, as if the process died between the two. */
interface Block {
  on(account: number): void;
  /** Undone in the store that is kept. */
  off(): void;
}

async function until(what: string, holds: () => Promise<boolean>, mostMs = 90_000): Promise<void> {
  const end = performance.now() + mostMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not in time: ${what}`);
    await Bun.sleep(50);
  }
}

function sqliteBlock(path: string): Block {
  const run = (sql: string) => {
    const database = new Database(path);
    database.run("PRAGMA busy_timeout = 5000");
    database.run(sql);
    database.close();
  };
  return {
    on: (account) =>
      run(`CREATE TRIGGER kept BEFORE INSERT ON ledger
           WHEN instr(NEW.heads, '"account/${account}"') > 0 AND instr(NEW.bodies, '${ARRIVES}') > 0
           BEGIN SELECT RAISE(ABORT, 'kept from arriving'); END`),
    off: () => run("DROP TRIGGER kept"),
  };
}

/** The database's address as the service has it: on a line that can be cut. */
async function mongoBlock(url: string) {
  const { hostname, port } = new URL(url);
  const line = await cutLine({ host: hostname, port: Number(port) });
  const through = new URL(url);
  through.port = String(line.port);
  const block: Block = {
    on(account) {
      line.judge((message) =>
        message.includes(`account/${account}`) && message.includes("insert") && message.includes(ARRIVES)
          ? "lose"
          : "pass",
      );
    },
    off: () => {},
  };
  return { block, url: through.href, close: () => line.close() };
}

async function make(kind: Kind): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-kept-"));
  const mongo = kind === "mongodb" ? await startMongo() : null;
  const mongoUrl = mongo === null ? null : newDatabase(mongo.url);
  const robot = await generateKeyPair("RS256", { extractable: true });
  let aheadMs = BEGIN - Date.now();
  const now = () => Date.now() + aheadMs;
  const providers = startProviders(robot.publicKey, now);
  const cut = mongoUrl === null ? null : await mongoBlock(mongoUrl);
  const where: Where = {
    ...{ storeUrl: storeUrl(kind, directory, cut?.url ?? null), secretsKey: SECRETS_KEY, directory },
    env: { ROOT_KEY, CLOUD_B_TOKEN_URL: providers.cloudB.tokenUrl, LOG_LEVEL: "warn" },
  };
  const block = cut?.block ?? sqliteBlock(join(directory, "kept.db"));
  const made = nothingMade(ROOT_KEY);
  let lives = 0;
  const scenario = async (): Promise<Scenario> => ({
    service: await serve({ ...where, env: { ...where.env, NODE_NAME: `kept-${++lives}` } }, now()),
    ...{ providers, made, now, pem: await exportPKCS8(robot.privateKey) },
  });

  let alive = await scenario();
  await firstDay(alive);
  await alive.service.end("SIGKILL");
  aheadMs += 3 * DAY_MS;
  alive = await scenario();
  const { lender } = made.accounts;
  const lines = async () => (await alive.service.must(lender!.key, "GET", "/dashboard/ledger")).lines;
  await until("the lender's credit has expired", async () => (await lines())[0].type === "expire");
  await thirdDay(alive);
  // What is older is covered by snapshots, what follows is not.
  await Bun.sleep(5_000);
  await lastRequests(alive);
  await recharge(alive, block);
  await alive.service.end("SIGKILL");
  const killedAt = now();
  block.off();
  const trails = await trailing(kind, directory, mongoUrl);
  if (trails < 2) throw new Error(`${kind}: only ${trails} snapshots trail their commits`);
  console.log(`${kind}: ${trails} snapshots trail their commits`);

  const box = join(HERE, `${kind}.gz`);
  await pack(kind, box, directory, mongoUrl);
  await cut?.close();
  if (mongoUrl !== null) await dropDatabase(mongoUrl);
  const credentials: Credentials = {
    accounts: made.accounts,
    owners: ["root", "acme", "bolt"],
    deleted: made.deleted,
  };
  const facts = await twiceOpened(kind, box, mongo?.url ?? null, credentials, killedAt);
  const expected = {
    ...{ at: killedAt, credentials, deadKeys: made.deadKeys, keys: made.keys, response: made.response },
    ...{ gateway: made.gateway, admin: made.admin, robot: await exportSPKI(robot.publicKey), facts },
  };
  writeFileSync(join(HERE, `${kind}.expected.json`), `${JSON.stringify(expected, null, 1)}\n`);
  providers.close();
  await mongo?.stop();
  rmSync(directory, { recursive: true });
}

/** A recharge that has left the giver and never arrives. */
async function recharge({ service, made }: Scenario, block: Block): Promise<void> {
  const { acme, asker } = made.accounts;
  block.on(asker!.id);
  void service
    .call(acme!.key, "PUT", "/x-users/asker", { body: { CreditGranted: 7, Days: 44 } })
    .catch(() => {});
  const newest = async () => (await service.must(acme!.key, "GET", "/dashboard/ledger?size=1")).lines[0];
  await until("the recharge has left", async () => (await newest()).amount === -7);
}

/** What two later lives, a minute and a half apart, say alike of the store, once each has set right what the kill left. */
async function twiceOpened(
  kind: Kind,
  box: string,
  server: string | null,
  credentials: Credentials,
  at: number,
): Promise<Json> {
  const said: Json[] = [];
  for (const laterMs of [1_000, 91_000]) {
    const directory = mkdtempSync(join(tmpdir(), "arborgate-kept-"));
    const mongoUrl = server === null ? null : newDatabase(server);
    await unpack(kind, box, directory, mongoUrl);
    const where: Where = {
      storeUrl: storeUrl(kind, directory, mongoUrl),
      secretsKey: SECRETS_KEY,
      directory,
    };
    const verified = await cli(where, "verify");
    console.log(verified.out);
    if (verified.code !== 0) throw new Error(`${kind}: verify answers ${verified.code}`);
    const service = await serve(where, at + laterMs);
    said.push(await settled(service, credentials));
    await service.end("SIGTERM");
    if (mongoUrl !== null) await dropDatabase(mongoUrl);
    rmSync(directory, { recursive: true });
  }
  return agreed(said[0], said[1], kind, (path) => console.log(`left out: ${path}`));
}

/** The facts once the transfer has arrived and the deletion is over, and documents, which trail the ledger, say so too. */
async function settled(service: Running, credentials: Credentials): Promise<Json> {
  let facts = await factsOf(service, credentials);
  await until("what the kill left is set right", async () => {
    const before = JSON.stringify(facts);
    await Bun.sleep(3_000);
    facts = await factsOf(service, credentials);
    const arrived = facts.byAccount.asker.ledger.sums.transfer_in === 9e9;
    const ended = credentials.deleted.every((id) =>
      ["delete_fee", "write_off"].some((type) => type in facts.deleted[id].sums),
    );
    return arrived && ended && withoutTime(before) === withoutTime(JSON.stringify(facts));
  });
  return facts;
}

const withoutTime = (facts: string): string => facts.replaceAll(/"SleepSeconds":\d+/g, "");

mkdirSync(HERE, { recursive: true });
const wanted = process.argv[2];
for (const kind of ["sqlite", "mongodb"] as const)
  if (wanted === undefined || wanted === kind) await make(kind);
process.exit(0);
