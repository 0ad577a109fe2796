// deploy/haproxy.cfg at work, before stand-ins of the nodes on loopback: only ready nodes are asked, an account's requests go to the
// node that its answers name, a stream's events come one by one, nodes hear who the client is, and the balancer's own health is
// that of the nodes.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, startChild } from "../children.ts";
import { accountRules, accountRulesIn, commandHaproxy } from "../e2e/cluster/balancer.ts";
import { until } from "../e2e/harness.ts";
import { freePort } from "../store/tcp.ts";
import { programOf, read } from "./operator-files.ts";

/** Requests at once of one account, and how many of them its node has when no other runs: half of them and 30, a few more or less. */
const AT_ONCE = 80;
const AT_ITS_NODE = 70;
const program = programOf("haproxy", "the load balancer of compose.yaml");
const folder = mkdtempSync(join(tmpdir(), "arborgate-balancer-"));
/** Whether each node is ready, by its number. */
const ready = [true, true, true];
/** Releases the second event of each stream that is open. */
const releases: (() => void)[] = [];
const release = () => {
  for (const one of releases.splice(0)) one();
};
/** The node that serves each account, by what its requests have as their key. */
const accountNodes = new Map<string, number>();
const keyOf = ({ headers }: Request) => headers.get("authorization") ?? headers.get("x-api-key") ?? "";

const node = (i: number, part: "service" | "administration") =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      // A check of HAProxy names no host.
      const { pathname } = new URL(request.url, "http://node");
      if (pathname === "/readyz") return new Response("", { status: ready[i] ? 200 : 503 });
      const accountNode = accountNodes.get(keyOf(request));
      const named: Record<string, string> =
        accountNode === undefined ? {} : { "x-arbor-node": `gateway-${accountNode}` };
      if (pathname !== "/stream") {
        const answer = { part, node: i + 1, forwarded: request.headers.get("x-forwarded-for") };
        return Response.json(answer, { headers: named });
      }
      const second = Promise.withResolvers<void>();
      releases.push(second.resolve);
      const events = new ReadableStream({
        async start(stream) {
          stream.enqueue("data: 1\n\n");
          await second.promise;
          stream.enqueue("data: 2\n\n");
          stream.close();
        },
      });
      return new Response(events, {
        headers: { "content-type": "text/event-stream", "x-node": `${i + 1}`, ...named },
      });
    },
  });
const nodes = [0, 1, 2].map((i) => ({
  service: node(i, "service"),
  administration: node(i, "administration"),
}));

/** Makes an account of this node whose first request the balancer has seen. Returns the headers of its next ones. */
async function knownAccount(node: number): Promise<Record<string, string>> {
  const authorization = `Bearer sk-${accountNodes.size}`;
  accountNodes.set(authorization, node);
  await ask("8080", "/x", { authorization });
  return { authorization };
}

let child: Child | null = null;
const ports: Record<string, number> = {};
const ask = async (port: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${ports[port]}${path}`, { headers });
/** The numbers of the nodes that answer an account's next requests, each once. */
async function nodesOf(headers: Record<string, string>, times = 12): Promise<number[]> {
  const asked = Array.from({ length: times }, () => ask("8080", "/x", headers));
  const answers = await Promise.all((await Promise.all(asked)).map((answer) => answer.json()));
  return [...new Set(answers.map(({ node }) => node))].sort();
}
/** How many API keys the balancer remembers. */
async function entries(): Promise<number> {
  const table = await commandHaproxy(join(folder, "haproxy.sock"), "show table gateways");
  return Number(/used:(\d+)/.exec(table)![1]);
}
const statusOf = (port: string, path: string) =>
  ask(port, path).then(
    ({ status }) => status,
    () => null,
  );

beforeAll(async () => {
  if (program === null) return;
  for (const port of ["8080", "8081", "8404"]) ports[port] = await freePort();
  const config = read("deploy/haproxy.cfg")
    // A test's process may have fewer files open than the container: compose.test.ts compares these two.
    .replace(/maxconn \d+/, "maxconn 200")
    .replace(/^global$/m, `$&\n  stats socket ${join(folder, "haproxy.sock")} mode 600`)
    .replace(/bind :(\d+)/g, (_, port: string) => `bind 127.0.0.1:${ports[port]}`)
    .replace(/gateway-(\d):(\d+)/g, (_, n: string, port: string) => {
      const { service, administration } = nodes[Number(n) - 1]!;
      return `127.0.0.1:${(port === "8080" ? service : administration).port}`;
    });
  writeFileSync(join(folder, "haproxy.cfg"), config);
  child = startChild([program, "-db", "-f", join(folder, "haproxy.cfg")]);
  await until("HAProxy asks the nodes", async () => {
    if (child!.exitCode() !== null) throw new Error(`it ended:\n${child!.tail()}`);
    return (await statusOf("8404", "/healthz")) === 200;
  });
});
afterAll(async () => {
  child?.signal("SIGKILL");
  await child?.exited;
  await Promise.all(
    nodes.flatMap(({ service, administration }) => [service.stop(true), administration.stop(true)]),
  );
  rmSync(folder, { recursive: true });
});

test("the page has the same rules for accounts and their nodes as the file", () => {
  const [, section] = /^### An account's own node\n(.*?)^#/ms.exec(read("docs/cluster.md"))!;
  const rules = accountRulesIn(section!);
  expect(rules).toBe(accountRules("arborgate", ["gw-1", "gw-2", "gw-3"]));
  expect(rules.split("\n")).toHaveLength(13);
});

describe.skipIf(program === null)("the load balancer", () => {
  test("passes requests and the administration's on, each to its port, with the client's address", async () => {
    expect(await (await ask("8080", "/x")).json()).toMatchObject({ part: "service", forwarded: "127.0.0.1" });
    expect(await (await ask("8081", "/x")).json()).toMatchObject({ part: "administration" });
  });

  test("puts the address that it sees behind what a client says", async () => {
    const headers = { "x-forwarded-for": "203.0.113.9" };
    const answer = await fetch(`http://127.0.0.1:${ports["8080"]}/x`, { headers });
    // As a second header, or behind it in the same one: either way it is the last.
    expect((await answer.json()).forwarded).toBe("203.0.113.9, 127.0.0.1");
  });

  test("passes the events of a stream on as they come", async () => {
    const reader = (await ask("8080", "/stream")).body!.getReader();
    const text = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await text()).toBe("data: 1\n\n");
    release();
    expect(await text()).toBe("data: 2\n\n");
    expect((await reader.read()).done).toBe(true);
  });

  test("sends an account's requests to the node that its last answer named, in both styles", async () => {
    for (const [key, node] of [
      ["Bearer sk-a", 1],
      ["Bearer sk-b", 2],
      ["Bearer sk-c", 3],
    ] as const) {
      accountNodes.set(key, node);
      await ask("8080", "/x", { authorization: key });
      expect(await nodesOf({ authorization: key })).toEqual([node]);
    }
    accountNodes.set("sk-d", 2);
    await ask("8080", "/x", { "x-api-key": "sk-d" });
    expect(await nodesOf({ "x-api-key": "sk-d" })).toEqual([2]);
    // An account that moved: the node that had it names the new one.
    accountNodes.set("Bearer sk-a", 3);
    await ask("8080", "/x", { authorization: "Bearer sk-a" });
    expect(await nodesOf({ authorization: "Bearer sk-a" })).toEqual([3]);
  });

  test("spreads requests without a key, and those of accounts whose node nobody has named", async () => {
    for (const headers of [{}, { authorization: "Bearer sk-unknown" }] as Record<string, string>[]) {
      expect(await nodesOf(headers, 30)).toEqual([1, 2, 3]);
    }
  });

  test("keeps the node's name from clients, of either port", async () => {
    const headers = await knownAccount(1);
    for (const [port, path] of [
      ["8080", "/x"],
      ["8081", "/x"],
      ["8080", "/stream"],
    ] as const) {
      const answer = await ask(port, path, headers);
      release();
      await answer.text();
      expect([answer.status, answer.headers.get("x-arbor-node")]).toEqual([200, null]);
    }
  });

  test("sends no more of an account to its node than that has room for", async () => {
    const headers = await knownAccount(2);
    const streams: Response[] = [];
    for (let i = 0; i < AT_ONCE; i++) streams.push(await ask("8080", "/stream", headers));
    const asked = streams.map((answer) => answer.headers.get("x-node"));
    expect(asked.slice(0, 55)).toEqual(new Array(55).fill("2"));
    expect(asked.filter((node) => node === "2").length).toBeWithin(AT_ITS_NODE - 5, AT_ITS_NODE + 6);
    release();
    await Promise.all(streams.map((answer) => answer.text()));
    expect(await nodesOf(headers)).toEqual([2]);
  });

  test("remembers no key that no node has accepted", async () => {
    const known = await knownAccount(1);
    await Promise.all(
      Array.from({ length: 50 }, (_, i) => ask("8080", "/x", { authorization: `Bearer no-${i}` })),
    );
    expect(await nodesOf(known)).toEqual([1]);
    expect(await entries()).toBe(accountNodes.size);
  });

  test("asks only nodes that are ready, and is not well when none is", async () => {
    const account = await knownAccount(2);
    ready[0] = false;
    ready[1] = false;
    const asked = async () => {
      const answers = Array.from({ length: 6 }, async () => (await (await ask("8080", "/x")).json()).node);
      return [...new Set(await Promise.all(answers))];
    };
    await until("the two are passed over", async () => (await asked()).join() === "3");
    // The node of this account is one of them.
    expect(await nodesOf(account)).toEqual([3]);
    ready[2] = false;
    await until("it says so", async () => (await statusOf("8404", "/healthz")) === 503);
    expect(await statusOf("8080", "/x")).toBe(503);
    ready.fill(true);
    await until("they are back", async () => (await statusOf("8404", "/healthz")) === 200);
  });

  test("sends a request to another node when that of the account takes no connection", async () => {
    const headers = await knownAccount(2);
    await until("its node gets its requests again", async () => (await nodesOf(headers)).join() === "2");
    await nodes[1]!.service.stop(true);
    // A check has not seen it yet, or has: no request fails either way.
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask("8080", "/x", headers)));
    expect(answers.map(({ status }) => status)).toEqual(new Array(6).fill(200));
  });
});
