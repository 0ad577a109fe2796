// A MongoDB server for tests: MONGODB_TEST_URL, or one of the tests' own, shared by all of them and ended with them: mongod
// from PATH, else a stand-in in Java, fetched once with Maven into .cache/. Where none can be had the tests that need one
// are skipped, loudly; with CI=true that is a failure.

import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { MongoClient } from "mongodb";
import { announceSkipped } from "../skipped.ts";
import { freePort } from "./tcp.ts";

const STANDIN = join(import.meta.dir, "mongo-server");
const LIBRARIES = resolve(import.meta.dir, "../../.cache/mongo-java-server-1.47.0");

const MODEST = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dio.netty.eventLoopThreads=1"];

let shared: Promise<string | null> | null = null;
let databases = 0;

/** The address of a server; null: `what` is skipped. */
export async function mongoServer(what: string): Promise<string | null> {
  shared ??= start();
  const url = await shared;
  if (url !== null) return url;
  const why = "no MONGODB_TEST_URL, no mongod in PATH, and no stand-in, which needs a JDK and Maven";
  if (process.env.CI === "true") throw new Error(`${what}: ${why}`);
  announceSkipped(what, why);
  return null;
}

/** The address of a database on this server that nobody else has. */
export function newDatabase(server: string): string {
  const name = `arborgate-test-${process.pid}-${Date.now().toString(36)}-${++databases}`;
  return server.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${name}`);
}

/** Removes a database that `newDatabase` named. */
export async function dropDatabase(url: string): Promise<void> {
  await using client = new MongoClient(url);
  await client.db().dropDatabase();
}

async function start(): Promise<string | null> {
  const given = process.env.MONGODB_TEST_URL;
  if (given) return given;
  const mongod = Bun.which("mongod");
  if (mongod !== null) return startMongod(mongod);
  const java = Bun.which("java");
  return java !== null && fetched() ? startStandIn(java) : null;
}

async function startStandIn(java: string): Promise<string> {
  // It ends when its standard input does: with this process, however that ends. It answers with documents that it is
  // changing for somebody else, unless one thread does it all.
  const child = Bun.spawn([java, ...MODEST, "-cp", join(LIBRARIES, "*"), join(STANDIN, "Main.java")], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  let said = "";
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk);
    const [, url] = /^ready (\S+)\n/.exec(said) ?? [];
    if (url === undefined) continue;
    child.unref();
    process.once("exit", () => child.kill());
    return url;
  }
  throw new Error(`the stand-in for MongoDB ended with ${await child.exited}: ${said}`);
}

function fetched(): boolean {
  if (existsSync(LIBRARIES)) return true;
  const maven = Bun.which("mvn");
  if (maven === null) return false;
  // Moved into place whole: others may be fetching too.
  mkdirSync(dirname(LIBRARIES), { recursive: true });
  const into = `${LIBRARIES}.${process.pid}`;
  const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${into}`];
  const { success } = Bun.spawnSync([maven, "-q", "-B", "-f", join(STANDIN, "pom.xml"), ...goal]);
  if (success && !existsSync(LIBRARIES)) renameSync(into, LIBRARIES);
  rmSync(into, { recursive: true, force: true });
  return success;
}

/** A replica set of one: a majority and reads of one moment are there as in a cluster. */
async function startMongod(mongod: string): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "arborgate-mongod-"));
  const port = await freePort();
  const where = ["--dbpath", home, "--bind_ip", "127.0.0.1", "--port", String(port)];
  const child = Bun.spawn([mongod, ...where, "--replSet", "tests"], { stdout: "ignore", stderr: "inherit" });
  child.unref();
  process.once("exit", () => {
    child.kill("SIGKILL");
    rmSync(home, { recursive: true, force: true });
  });
  const host = `127.0.0.1:${port}`;
  await using client = new MongoClient(`mongodb://${host}/?directConnection=true`);
  await client.db("admin").command({ replSetInitiate: { _id: "tests", members: [{ _id: 0, host }] } });
  return `mongodb://${host}/?replicaSet=tests`;
}
