// deploy/haproxy.cfg at work, before stand-ins of the nodes on loopback: only ready nodes are asked, a stream's events come one by
// one, nodes hear who the client is, and the balancer's own health is that of the nodes.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, startChild } from "../children.ts";
import { until } from "../e2e/harness.ts";
import { freePort } from "../store/tcp.ts";
import { programOf, read } from "./operator-files.ts";

const program = programOf("haproxy", "the load balancer of compose.yaml");
const folder = mkdtempSync(join(tmpdir(), "arborgate-balancer-"));
/** Whether each node is ready, by its number. */
const ready = [true, true, true];
/** Releases the second event of the stream that is open. */
let release = () => {};

const node = (i: number, part: "service" | "administration") =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      // A check of HAProxy names no host.
      const { pathname } = new URL(request.url, "http://node");
      if (pathname === "/readyz") return new Response("", { status: ready[i] ? 200 : 503 });
      if (pathname !== "/stream")
        return Response.json({ part, node: i + 1, forwarded: request.headers.get("x-forwarded-for") });
      const second = Promise.withResolvers<void>();
      release = second.resolve;
      const events = new ReadableStream({
        async start(stream) {
          stream.enqueue("data: 1\n\n");
          await second.promise;
          stream.enqueue("data: 2\n\n");
          stream.close();
        },
      });
      return new Response(events, { headers: { "content-type": "text/event-stream" } });
    },
  });
const nodes = [0, 1, 2].map((i) => ({
  service: node(i, "service"),
  administration: node(i, "administration"),
}));

let child: Child | null = null;
const ports: Record<string, number> = {};
const ask = async (port: string, path: string) => fetch(`http://127.0.0.1:${ports[port]}${path}`);
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
    .replace(/maxconn \d+/, "maxconn 100")
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

  test("asks only nodes that are ready, and is not well when none is", async () => {
    ready[0] = false;
    ready[1] = false;
    const asked = async () => {
      const answers = Array.from({ length: 6 }, async () => (await (await ask("8080", "/x")).json()).node);
      return [...new Set(await Promise.all(answers))];
    };
    await until("the two are passed over", async () => (await asked()).join() === "3");
    ready[2] = false;
    await until("it says so", async () => (await statusOf("8404", "/healthz")) === 503);
    expect(await statusOf("8080", "/x")).toBe(503);
    ready.fill(true);
    await until("they are back", async () => (await statusOf("8404", "/healthz")) === 200);
  });
});
