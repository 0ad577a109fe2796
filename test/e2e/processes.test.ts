// Several processes on one port, with real processes: connections come to each, one that is killed comes back while the other
// goes on, signals drain all, and each charge is in the ledger once whatever happened.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ROOT_KEY } from "../node/nodes.ts";
import { type Account, asking, charges, type Json, until } from "./harness.ts";
import { isAlive, type Processes, sharedPorts } from "./processes.ts";

const TIMEOUT_MS = 180_000;
/** A connection of its own for each request, so that the kernel may hand each to another process. */
const APART = { headers: { connection: "close" } };

const on = await sharedPorts("several processes on one port");

if (on !== null) {
  let user: Account;
  /** Request ids of answers that came to their end. */
  const answered: string[] = [];

  /** Sends one request by a connection of its own; false: it was refused, or its connection broke. */
  async function ask(url = on!.url()): Promise<boolean> {
    try {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${user.key}`,
          "content-type": "application/json",
          ...APART.headers,
        },
        body: JSON.stringify(asking("hello [[output=3]]")),
      });
      await response.text();
      if (response.status === 200) answered.push(response.headers.get("x-request-id")!);
      else expect([429, 503]).toContain(response.status);
      return response.status === 200;
    } catch {
      return false;
    }
  }

  const nodesSeen = async (processes: Processes, requests: number): Promise<ReadonlySet<string>> => {
    const seen = new Set<string>();
    for (let i = 0; i < requests; i++) {
      const { body } = await processes.call(ROOT_KEY, "GET", "/x-cluster", undefined, APART);
      seen.add(body.node);
    }
    return seen;
  };

  async function expectExact(): Promise<void> {
    const counts = new Map<string, number>();
    for (const { request_id } of charges(await on!.ledger(user.key)))
      counts.set(request_id, (counts.get(request_id) ?? 0) + 1);
    expect(answered.filter((id) => counts.get(id) !== 1)).toEqual([]);
    expect([...counts.values()].every((count) => count === 1)).toBe(true);
    expect((await on!.verified()).findings).toEqual([]);
  }

  beforeAll(async () => {
    await on.start();
    const owner = await on.owner({ keys: 2 });
    user = await on.subaccount(owner);
  }, TIMEOUT_MS);
  afterAll(() => on.close(), TIMEOUT_MS);

  describe("two processes", () => {
    test("get connections both, are two nodes of one cluster, and charge each answer once", async () => {
      // That none of a hundred connections comes to one of the two happens once in 10^30.
      expect(await nodesSeen(on, 100)).toEqual(new Set(["gw-1", "gw-2"]));
      const { body } = await on.call(ROOT_KEY, "GET", "/x-cluster");
      expect(body.nodes.map(({ name, state }: Json) => `${name} ${state}`).sort()).toEqual([
        "gw-1 up",
        "gw-2 up",
      ]);
      for (let i = 0; i < 40; i++) expect(await ask()).toBe(true);
      await expectExact();
    });

    test("each answer for themselves at a port of their own", async () => {
      for (const [i, url] of on.ownUrls().entries()) {
        const headers = { authorization: `Bearer ${ROOT_KEY}` };
        const own = await fetch(`${url}/x-cluster`, { headers });
        expect(((await own.json()) as Json).node).toBe(`gw-${i + 1}`);
        expect(await (await fetch(`${url}/metrics`, { headers })).text()).toContain("arborgate_turns_total ");
        expect((await fetch(`${url}/readyz`)).status).toBe(200);
      }
    });

    test("write lines that name their node", () => {
      expect(new Set(on.logged("listens").map(({ node }) => node))).toEqual(new Set(["gw-1", "gw-2"]));
      expect(on.logged("process_starts").map(({ node }) => node)).toEqual([undefined, undefined]);
    });

    test("print one start", () => {
      const said = on.parent().tail().split("\n");
      expect(said.filter((line) => line.startsWith("arborgate serves on"))).toHaveLength(1);
    });
  });

  test(
    "one that is killed comes back under its name while the other goes on",
    async () => {
      const [killed, other] = on.pids() as [number, number];
      const [, otherUrl] = on.ownUrls();
      let isOver = false;
      const load = (async () => {
        while (!isOver) await ask();
      })();
      const before = on.logged("process_serves").length;
      process.kill(killed, "SIGKILL");
      await until("it is missed", () => on.logged("process_ended").length === 1);
      expect(on.logged("process_ended")[0]).toMatchObject({ process: 1, signal: "SIGKILL" });
      // The shared port is the other's alone until it serves again.
      await until("the other has its accounts", () => ask(otherUrl), 60_000);
      await on.served(before + 1);
      expect((await nodesSeen(on, 100)).has("gw-1")).toBe(true);
      isOver = true;
      await load;
      expect(on.pids()[0]).not.toBe(killed);
      expect(on.pids()[1]).toBe(other);
      expect(on.logged("process_ended")).toHaveLength(1);
      await expectExact();
    },
    TIMEOUT_MS,
  );

  test("a port that is in use is exit code 2, and touches nobody else's processes", async () => {
    const port = new URL(on.url()).port;
    const second = on.launch({ PORT: port, NODE_NAME: "second" });
    expect(await second.exited).toBe(2);
    expect(second.tail()).toMatch(/^arborgate: HOST and PORT: nothing can listen at .*EADDRINUSE/);
    expect(await ask()).toBe(true);
  });

  test(
    "SIGTERM lets a stream on each come to its end, and exits 0",
    async () => {
      const open = await Promise.all(
        on.ownUrls().map((url) =>
          fetch(`${url}/v1/chat/completions`, {
            method: "POST",
            headers: { authorization: `Bearer ${user.key}`, "content-type": "application/json" },
            body: JSON.stringify({ ...asking("go [[output=20 chunk_ms=40]]"), stream: true }),
          }),
        ),
      );
      expect(open.map(({ status }) => status)).toEqual([200, 200]);
      on.parent().signal("SIGTERM");
      const texts = await Promise.all(open.map((one) => one.text()));
      for (const text of texts) expect(text.trimEnd()).toEndWith("data: [DONE]");
      for (const { headers } of open) answered.push(headers.get("x-request-id")!);
      expect(await on.parent().exited).toBe(0);
      expect(on.pids().filter(isAlive)).toEqual([]);
      await on.start({ PROCESSES: "2" });
      await expectExact();
    },
    TIMEOUT_MS,
  );

  test(
    "a second signal ends all at once, exit code 1",
    async () => {
      const stream = await fetch(`${on.ownUrls()[0]}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${user.key}`, "content-type": "application/json" },
        body: JSON.stringify({ ...asking("go [[output=1000 chunk_ms=100]]"), stream: true }),
      });
      expect(stream.status).toBe(200);
      const stops = on.logged("stopping").length;
      on.parent().signal("SIGTERM");
      await until("all stop", () => on.logged("stopping").length === stops + 3);
      on.parent().signal("SIGINT");
      expect(await on.parent().exited).toBe(1);
      expect(on.pids().filter(isAlive)).toEqual([]);
      await stream.text().catch(() => {});
    },
    TIMEOUT_MS,
  );

  test(
    "when the parent is killed the processes drain and end by themselves",
    async () => {
      await on.start();
      const pids = on.pids();
      on.parent().signal("SIGKILL");
      await until("none is left", () => pids.filter(isAlive).length === 0, 60_000);
      await on.start();
      await expectExact();
    },
    TIMEOUT_MS,
  );

  test(
    "when the parent is killed before its processes have begun, they end all the same",
    async () => {
      on.parent().signal("SIGTERM");
      await on.parent().exited;
      const before = on.logged("process_starts").length;
      const killed = on.launch();
      await until("both are started", () => on.logged("process_starts").length === before + 2);
      const pids = on.pids();
      killed.signal("SIGKILL");
      await until("none is left", () => pids.filter(isAlive).length === 0, 60_000);
      await on.start();
      await expectExact();
    },
    TIMEOUT_MS,
  );
}
