// A graceful stop as clients meet it: from the moment it begins every answer closes its connection, so that none of them
// sends a request into a connection that is about to go.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Agent, request } from "node:http";
import { accountFactory, asking, type Bench, callsTo, startBench, until } from "../e2e/harness.ts";
import { startProvider } from "../provider/provider.ts";
import { clusterGround, ROOT_KEY } from "./nodes.ts";

/** What a client with one kept connection gets. */
function keepingClient(key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    ask: (url: string, said: string) =>
      new Promise<{ status: number; connection: string | undefined }>((resolve, reject) => {
        const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
        const sent = request(`${url}/v1/chat/completions`, { method: "POST", agent, headers }, (answer) => {
          const { statusCode: status = 0, headers } = answer;
          answer.on("error", reject);
          answer.on("end", () => resolve({ status, connection: headers.connection }));
          answer.resume();
        });
        sent.on("error", reject);
        sent.end(JSON.stringify({ ...asking(said), max_tokens: 2 }));
      }),
    close: () => agent.destroy(),
  };
}

describe("from the moment it leaves", () => {
  let bench: Bench;
  let key: string;
  beforeAll(async () => {
    bench = await startBench({ settings: { LB_WAIT_MS: "5000" } });
    key = (await bench.subaccount(await bench.owner())).key;
  });

  test("answers close their connections: new ones, those under way, and what machines ask", async () => {
    const asked = bench.provider.totals().calls;
    expect((await bench.chat(key, "[[output=1]]")).headers.get("connection")).not.toBe("close");
    const slow = bench.chat(key, "[[head_ms=300 output=1]]");
    await until("it is under way", () => bench.provider.totals().calls === asked + 2);
    const stopped = bench.close();
    const asks = await Promise.all([
      bench.chat(key, "[[output=1]]"),
      bench.call(null, "GET", "/healthz"),
      bench.call(null, "GET", "/readyz"),
      bench.call(key, "GET", "/nowhere"),
      slow,
    ]);
    expect(asks.map(({ status }) => status)).toEqual([200, 200, 503, 404, 200]);
    expect(asks.map(({ headers }) => headers.get("connection"))).toEqual(Array(5).fill("close"));
    await stopped;
  });
});

const ground = await clusterGround("stops of a node under clients that keep connections");
if (ground !== null) {
  describe("a node of a cluster that is stopped under load", () => {
    const provider = startProvider();
    afterAll(async () => {
      await ground.close();
      provider.close();
    });

    test("fails no request of clients that heed /readyz, whatever connections they keep", async () => {
      const [stays, leaves] = [
        await ground.start("stays"),
        await ground.start("leaves", { LB_WAIT_MS: "6000" }),
      ];
      const { call } = callsTo(() => stays.url);
      const factory = accountFactory(call, ROOT_KEY, provider.url);
      const { key } = await factory.subaccount(await factory.owner());
      const isReady = async () => (await fetch(`${leaves.url}/readyz`)).status === 200;
      await until("both are ready", isReady);

      let isUp = true;
      let done = false;
      const answers: number[] = [];
      const failures: unknown[] = [];
      // A load balancer's check, and clients behind it.
      const checking = (async () => {
        while (isUp) {
          isUp = await isReady();
          await Bun.sleep(100);
        }
      })();
      const clients = Array.from({ length: 8 }, async (_, nth) => {
        const client = keepingClient(key);
        while (!done) {
          const url = isUp ? leaves.url : stays.url;
          try {
            answers.push((await client.ask(url, `[[output=2 head_ms=${nth * 10}]]`)).status);
          } catch (error) {
            failures.push(error);
          }
          await Bun.sleep(nth * 5);
        }
        client.close();
      });
      await until("the load runs", () => answers.length > 100, 20_000);
      const before = answers.length;
      await leaves.stop();
      await until("it runs on", () => answers.length > before + 20, 20_000);
      done = true;
      await Promise.all([...clients, checking]);
      expect(failures).toEqual([]);
      expect(new Set(answers)).toEqual(new Set([200]));
    }, 180_000);
  });
}
