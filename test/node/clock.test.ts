// PUT /x-clock on a cluster: every node has the time that one was given, also one that joins later, and none takes it for a
// clock that is wrong or a node that froze.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Service } from "../../src/node/service.ts";
import { type Account, accountFactory, callsTo, until } from "../e2e/harness.ts";
import { startProvider } from "../provider/provider.ts";
import { clusterGround, ROOT_KEY } from "./nodes.ts";

const DAY_MS = 86_400_000;
const ALLOWED = { ALLOW_CLOCK_OFFSET: "1" };
/** Longer than a lease lasts that is not renewed. */
const LEASE_MS = 5_000;

const ground = await clusterGround("the clock of a cluster");
if (ground !== null) {
  const provider = startProvider();
  const nodes: Service[] = [];
  beforeAll(async () => {
    nodes.push(await ground.start("a", ALLOWED), await ground.start("b", ALLOWED));
  });
  afterAll(async () => {
    await ground.close();
    provider.close();
  });

  const at = (service: Service) => callsTo(() => service.url);
  let spare: Account;
  /** A rotation is confirmed by the node's own date. */
  const has = async (service: Service, offsetMs: number): Promise<boolean> => {
    const confirm = `${new Date(Date.now() + offsetMs).toISOString().slice(0, 10)}-ROTATE-ROOT`;
    const asked = { confirm, name: spare.name };
    return (await at(service).call(ROOT_KEY, "POST", "/x-root", asked)).status === 200;
  };

  test("all nodes have the new time, stay ready and serve on", async () => {
    const [a, b] = nodes as [Service, Service];
    const factory = accountFactory(at(a).call, ROOT_KEY, provider.url);
    const owner = await factory.owner();
    spare = await factory.subaccount(owner);
    const users = await Promise.all(
      Array.from({ length: 6 }, () => factory.subaccount(owner, { CreditGranted: 3, Days: 1 })),
    );
    const moved = await at(a).call(ROOT_KEY, "PUT", "/x-clock", { offset_ms: 3 * DAY_MS });
    expect(moved.status).toBe(200);
    for (const node of [a, b]) {
      await until("the node has the time", () => has(node, 3 * DAY_MS));
      // Accounts of either node: each is asked at both.
      for (const { key } of users) expect(await at(node).balance(key)).toBe(0);
    }
    // A lease that went by this clock would be over, and a clock that is wrong found out.
    await Bun.sleep(LEASE_MS);
    for (const node of [a, b]) expect((await at(node).call(null, "GET", "/readyz")).text).toBe("ready\n");
    expect((await at(b).chat(owner.key, "[[output=1]]")).status).toBe(200);
    const wrong = ["node_fenced", "clock_wrong", "activation_broken"];
    expect(ground.log.filter(({ event }) => wrong.includes(event))).toEqual([]);
  }, 30_000);

  test("a node that joins later has it, and cannot be moved behind it", async () => {
    const late = await ground.start("late", ALLOWED);
    expect(await has(late, 3 * DAY_MS)).toBe(true);
    const back = await at(late).call(ROOT_KEY, "PUT", "/x-clock", { offset_ms: DAY_MS });
    expect(back.status).toBe(400);
  }, 30_000);
}
