// The commands beside a cluster, as processes: they go through its nodes, tell what they found without a password, and say
// clearly when no node lives. And on a MongoDB without NATS, where one process serves alone.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Service } from "../../src/node/service.ts";
import { callsTo } from "../e2e/harness.ts";
import { clusterGround, ROOT_KEY, SECRETS_KEY } from "../node/nodes.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
const NEW_KEY = Buffer.from("another secrets key for tests!!!").toString("base64");
const PASSWORD = "not-to-be-shown";

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(args: readonly string[], env: Record<string, string>): Promise<Ended> {
  const child = Bun.spawn([process.execPath, MAIN, ...args], { env, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, err };
}

/** Sees to one clear line and exit code 2. */
function expectRefused({ code, err }: Ended, says: string): void {
  expect(err).toContain(says);
  expect(err).toStartWith("arborgate: ");
  expect(err.trim().split("\n")).toHaveLength(1);
  expect(err).not.toContain(PASSWORD);
  expect(code).toBe(2);
}

const ground = await clusterGround("commands beside a cluster");
if (ground !== null) {
  const env = ground.env("command");
  const alone = { ...ground.env("command"), NATS_URL: "" };
  const status = (service: Service, key: string) =>
    callsTo(() => service.url).call(key, "GET", "/dashboard/status");
  let node: Service;
  let rootKey = ROOT_KEY;
  beforeAll(async () => {
    node = await ground.start("a", { SECRETS_KEY: NEW_KEY, SECRETS_KEY_OLD: SECRETS_KEY });
    // An Owner whose mail password is sealed: with the new key, as all that this node seals.
    const { call } = callsTo(() => node.url);
    await call(ROOT_KEY, "PUT", "/x-config", { EMAIL_SMTP: "mail.example", EMAIL_PASS: "secret-of-mail" });
  });
  afterAll(() => ground.close());

  describe("check", () => {
    test("names the versions of the servers", async () => {
      const { code, out } = await run(["check"], env);
      expect(out).toMatch(/^settings +valid\nstore +mongodb:\/\/\S+: reachable, MongoDB \d+\.\d+\.\d+, /);
      expect(out).toMatch(/schema version \d+, \d+ commits\nsecrets +SECRETS_KEY is set\n/);
      expect(out).toMatch(/\ncluster +nats:\/\/\S+: reachable, nats-server \d+\.\d+\.\d+\n$/);
      expect(code).toBe(0);
    });

    test("says how many processes a start would start", async () => {
      const { code, out } = await run(["check"], { ...env, PROCESSES: "3" });
      expect(out).toContain("\nprocesses 3 share the ports");
      expect(code).toBe(0);
    });

    test.each([["check"], ["serve"]])(
      "several processes on an embedded store: %s exits 2",
      async (command) => {
        const embedded = { PROCESSES: "2", STORE_URL: "sqlite::memory:" };
        expectRefused(await run([command], embedded), "PROCESSES over 1 makes a cluster of this machine");
      },
    );

    test.each([
      [
        "a MongoDB that is not there",
        "STORE_URL",
        `mongodb://user:${PASSWORD}@127.0.0.1:1/x`,
        "MongoDB cannot be reached",
      ],
      [
        "a NATS that is not there",
        "NATS_URL",
        `nats://user:${PASSWORD}@127.0.0.1:1`,
        "NATS cannot be reached",
      ],
      ["no key for secrets", "SECRETS_KEY", "", "openssl rand -base64 32"],
    ])("%s: exit code 2", async (_, name, value, says) => {
      expectRefused(await run(["check"], { ...env, [name]: value }), says);
    });

    test("makes nothing in a database that is empty", async () => {
      const STORE_URL = `${ground.storeUrl}-empty`;
      const { code, out } = await run(["check"], { ...env, STORE_URL });
      expect(out).toContain("empty, the first start fills it");
      expect(code).toBe(0);
      expectRefused(await run(["rotate-root"], { ...env, STORE_URL }), "nothing of arborgate");
    });
  });

  describe("through a node", () => {
    test("rotate-root gives Root another key, in force at once", async () => {
      const { code, out } = await run(["rotate-root"], env);
      expect(code).toBe(0);
      const former = rootKey;
      rootKey = out.match(/sk-[0-9A-Za-z]{48}/)![0];
      expect([(await status(node, rootKey)).status, (await status(node, former)).status]).toEqual([200, 401]);
    });

    test("reencrypt has the nodes store what it sealed", async () => {
      const back = { ...env, SECRETS_KEY, SECRETS_KEY_OLD: NEW_KEY };
      expect((await run(["reencrypt"], back)).out).toContain("1 of 1 provider secrets");
      expect((await run(["reencrypt"], back)).out).toContain("0 of 1");
    });

    test("verify and export read beside it", async () => {
      const verified = await run(["verify"], env);
      expect(verified.out).toContain("Everything agrees.");
      expect(verified.code).toBe(0);
      const { last_verify } = (await callsTo(() => node.url).call(rootKey, "GET", "/x-cluster")).body;
      expect(last_verify).toMatchObject({ differences: 0, lines: expect.any(Number) });
      const exported = await run(["export", "--from", "2020-01-01", "--to", "2099-12-31"], env);
      expect(exported.out).toStartWith("account,name,line,at,id,type,amount");
      expect(exported.code).toBe(0);
    });

    test.each([
      ["backup", "mongodump"],
      ["restore", "mongorestore"],
    ])("%s names the tool to use", async (command, tool) => {
      expectRefused(await run([command, "file"], env), tool);
    });
  });

  describe("when no node lives", () => {
    beforeAll(() => node.stop());

    test.each(["rotate-root", "reencrypt"])("%s says so", async (command) => {
      expectRefused(await run([command], env), "no node of this cluster is running");
    });

    test("without NATS the command serves the actors itself", async () => {
      const { code, out } = await run(["rotate-root"], alone);
      expect(code).toBe(0);
      rootKey = out.match(/sk-[0-9A-Za-z]{48}/)![0];
    });
  });

  describe("a process alone on MongoDB", () => {
    beforeAll(async () => {
      node = await ground.start("alone", { NATS_URL: "" });
    });

    test("serves what was there before", async () => {
      expect((await status(node, rootKey)).status).toBe(200);
      expect((await callsTo(() => node.url).call(null, "GET", "/readyz")).text).toBe("ready\n");
      const { nodes } = (await callsTo(() => node.url).call(rootKey, "GET", "/x-cluster")).body;
      expect(nodes).toMatchObject([{ name: "alone", state: "up", shards: 256 }]);
    });

    test.each([["serve"], ["rotate-root"]])(
      "%s beside it is refused: it would need NATS",
      async (command) => {
        expectRefused(await run([command], { ...alone, NODE_NAME: "second" }), "set NATS_URL in all of them");
      },
      30_000,
    );

    test("check says that it must be the only one", async () => {
      expect((await run(["check"], alone)).out).toMatch(/\ncluster +none: .*only process/);
    });
  });
}
