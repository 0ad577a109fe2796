// A MongoDB server for tests: MONGODB_TEST_URL, or one of the tests' own, shared by all of a process and ended with it:
// mongod from PATH, else a stand-in in Java, fetched once with Maven into .cache/. Where none can be had the tests that need
// one are skipped, loudly; with CI=true that is a failure.

import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { MongoClient } from "mongodb";
import { announceSkipped } from "../skipped.ts";
import { freePort } from "./tcp.ts";

/** A server of one's own; not one for a test that freezes or ends it, where `pid` is null. */
export interface TestMongo {
  /** Without a database. */
  readonly url: string;
  /** Null for the server that MONGODB_TEST_URL names, which is not the test's to stop. */
  readonly pid: number | null;
  /** Ends it; with the process that started it, it ends anyway. */
  stop(): Promise<void>;
}

const STANDIN = join(import.meta.dir, "mongo-server");
const LIBRARIES = resolve(import.meta.dir, "../../.cache/mongo-java-server-1.47.0");

const MODEST = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dio.netty.eventLoopThreads=1"];
const HEAP = "512m";
/**
 * Flags for a heap that fills with what stays: the whole of it from the start, and little of it for what is young. A collection
 * that grows the heap, or that copies gigabytes which have just been written, would stop the server for seconds.
 */
const filling = (heap: string): string[] => [`-Xms${heap}`, `-Xmx${heap}`, "-Xmn96m"];

let shared: Promise<TestMongo | null> | null = null;
let databases = 0;

/** The address of a server; null: `what` is skipped. */
export async function mongoServer(what: string): Promise<string | null> {
  shared ??= startMongo();
  const mongo = await shared;
  if (mongo !== null) return mongo.url;
  const why = "no MONGODB_TEST_URL, no mongod in PATH, and no stand-in, which needs a JDK and Maven";
  if (process.env.CI === "true") throw new Error(`${what}: ${why}`);
  announceSkipped(what, why);
  return null;
}

/**
 * Starts a server that nobody else uses, or names the one of MONGODB_TEST_URL; null: there is none to be had. The stand-in
 * keeps all in memory: `heap` is what it may take and will fill; without it there is little.
 */
export async function startMongo(heap?: string): Promise<TestMongo | null> {
  const given = process.env.MONGODB_TEST_URL;
  if (given) return { url: given, pid: null, stop: async () => {} };
  const mongod = Bun.which("mongod");
  if (mongod !== null) return startMongod(mongod);
  const java = Bun.which("java");
  return java !== null && (await fetched()) ? startStandIn(java, heap) : null;
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

async function startStandIn(java: string, heap: string | undefined): Promise<TestMongo> {
  // It ends when its standard input does: with this process, however that ends. It answers with documents that it is
  // changing for somebody else, unless one thread does it all.
  const memory = heap === undefined ? [`-Xmx${HEAP}`] : filling(heap);
  const command = [java, ...memory, ...MODEST, "-cp", join(LIBRARIES, "*"), join(STANDIN, "Main.java")];
  const child = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const url = await firstLine(child, /^ready (\S+)\n/);
  return owned(url, child.pid, child);
}

/** Does the work of the next line, and dies with its standard input as the stand-in does. */
const WATCHED = '"$@" >/dev/null 2>&1 & echo "$!"; cat >/dev/null; kill -9 "$!"';
const PORTS_TRIED = 3;

/** A replica set of one: a majority and reads of one moment are there as in a cluster. */
async function startMongod(mongod: string): Promise<TestMongo> {
  for (let tried = 1; ; tried++) {
    const home = mkdtempSync(join(tmpdir(), "arborgate-mongod-"));
    const port = await freePort();
    const where = ["--dbpath", home, "--bind_ip", "127.0.0.1", "--port", String(port), "--replSet", "tests"];
    const child = Bun.spawn(["sh", "-c", WATCHED, "sh", mongod, ...where], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    process.once("exit", () => rmSync(home, { recursive: true, force: true }));
    const pid = Number(await firstLine(child, /^(\d+)\n/));
    const host = `127.0.0.1:${port}`;
    try {
      await using client = new MongoClient(`mongodb://${host}/?directConnection=true`);
      const members = [{ _id: 0, host }];
      await client.db("admin").command({ replSetInitiate: { _id: "tests", members } });
      return owned(`mongodb://${host}/?replicaSet=tests`, pid, child);
    } catch (error) {
      // Somebody else may have taken the port in between.
      child.stdin.end();
      if (tried === PORTS_TRIED) throw error;
    }
  }
}

type Child = Bun.Subprocess<"pipe", "pipe", "inherit">;

function owned(url: string, pid: number, child: Child): TestMongo {
  child.unref();
  return {
    url,
    pid,
    async stop() {
      // A frozen one would not read that its input has ended.
      process.kill(pid, "SIGKILL");
      child.stdin.end();
      await child.exited;
    },
  };
}

async function firstLine(child: Child, form: RegExp): Promise<string> {
  let said = "";
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk);
    const [, found] = form.exec(said) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error(`the server for tests ended with ${await child.exited}: ${said}`);
}

/** Are the stand-in's libraries there? One process fetches them, others wait for it. */
async function fetched(): Promise<boolean> {
  const maven = Bun.which("mvn");
  const lock = `${LIBRARIES}.lock`;
  mkdirSync(dirname(LIBRARIES), { recursive: true });
  for (; !existsSync(LIBRARIES); await Bun.sleep(200)) {
    if (maven === null) return false;
    if (!locked(lock)) continue;
    const into = `${LIBRARIES}.${process.pid}`;
    const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${into}`];
    const { exitCode } = Bun.spawnSync([maven, "-q", "-B", "-f", join(STANDIN, "pom.xml"), ...goal]);
    if (exitCode === 0) renameSync(into, LIBRARIES);
    rmSync(into, { recursive: true, force: true });
    rmSync(lock);
    return exitCode === 0;
  }
  return true;
}

/** Takes the lock, that of a process which is gone too. */
function locked(path: string): boolean {
  try {
    const file = openSync(path, "wx");
    writeFileSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch {
    const holder = existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
    if (holder > 0 && !existsSync(`/proc/${holder}`)) rmSync(path, { force: true });
    return false;
  }
}
