// Three nodes are one service: whatever is done at one of them holds at the others, at once where money and keys are
// concerned, soon for everything else; what happens once happens once.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { confirming } from "../../http/endpoints.ts";
import { headerOf, type PostOffice, startPostOffice } from "../../mail/post-office.ts";
import {
  type Account,
  type Answer,
  asking,
  charged,
  charges,
  fresh,
  type Json,
  MODEL,
  nano,
  type Owner,
  until,
} from "../harness.ts";
import { type Cluster, ROOT_KEY, startCluster, withTailsOnFailure } from "./cluster.ts";
import type { ClusterNode } from "./node.ts";

let office: PostOffice;
let cluster: Cluster | null;
let owner: Owner;
beforeAll(async () => {
  office = await startPostOffice();
  cluster = await startCluster({ what: "a cluster as one service", env: { KEY_FAILURES: "3" } });
  if (cluster !== null) owner = await cluster.owner({ credit: 5_000, keys: 2 });
}, 180_000);
afterAll(async () => {
  await cluster?.close();
  await office.shut();
}, 30_000);

/** A test of the cluster, where there is one. */
function together(name: string, does: (on: Cluster) => Promise<void>, mostMs = 90_000): void {
  test(name, () => withTailsOnFailure(cluster, does), mostMs);
}

/** Waits until every node does something with the outcome that is meant. */
const everywhere = <T>(
  what: string,
  nodes: readonly ClusterNode[],
  does: (node: ClusterNode) => Promise<T>,
  isSo: (outcome: T) => boolean,
) => until(what, async () => (await Promise.all(nodes.map(does))).every(isSo));

/** An account, the node that serves it, and the two that do not. */
async function owned(
  on: Cluster,
  given: Record<string, unknown> = {},
): Promise<{ user: Account; ownerNode: ClusterNode; otherNodes: readonly [ClusterNode, ClusterNode] }> {
  const user = await on.subaccount(owner, given);
  const ownerNode = await on.ownerOf(user.id);
  const [first, second] = on.nodes.filter((node) => node !== ownerNode);
  return { user, ownerNode, otherNodes: [first!, second!] };
}

const chat = (node: ClusterNode, key: string, said = "[[output=3]]", headers: Record<string, string> = {}) =>
  node.call(key, "POST", "/v1/chat/completions", { ...asking(said), max_tokens: 50 }, { headers });

describe("a named API key", () => {
  const keysOf = (on: Cluster, user: Account, method: string, path: string, body?: object) =>
    on.call(user.key, method, `/dashboard/keys${path}`, body);
  /** What each node answers to a chat with a key. */
  const everyNode = async (on: Cluster, key: string) =>
    (await Promise.all(on.nodes.map((node) => chat(node, key)))).map(({ status, body }) =>
      status === 200 ? 200 : body.error.code,
    );

  together(
    "that is rotated, narrowed, disabled, enabled or deleted is so on every node with the answer",
    async (on) => {
      const { user } = await owned(on);
      const { key, secret } = (await keysOf(on, user, "POST", "", { Name: `key-${fresh()}` })).body;
      expect(await everyNode(on, secret)).toEqual([200, 200, 200]);
      const second = (await keysOf(on, user, "POST", `/${key.id}/rotate`, { OverlapSeconds: 600 })).body
        .secret;
      for (const one of [secret, second]) expect(await everyNode(on, one)).toEqual([200, 200, 200]);
      const third = (await keysOf(on, user, "POST", `/${key.id}/rotate`)).body.secret;
      const dead = "invalid_api_key";
      for (const one of [secret, second]) expect(await everyNode(on, one)).toEqual([dead, dead, dead]);
      const steps: [object, unknown][] = [
        [{ AllowModels: "another" }, "model_not_allowed"],
        [{ AllowModels: "*", Resources: "/v1/embeddings" }, "path_not_allowed"],
        [{ Resources: "", Scopes: ["read"] }, "scope_missing"],
        [{ Scopes: ["invoke"], Status: false }, dead],
        [{ Status: true }, 200],
      ];
      for (const [change, outcome] of steps) {
        expect((await keysOf(on, user, "PUT", `/${key.id}`, change)).status).toBe(200);
        expect(await everyNode(on, third)).toEqual([outcome, outcome, outcome]);
      }
      expect((await keysOf(on, user, "DELETE", `/${key.id}`)).status).toBe(200);
      expect(await everyNode(on, third)).toEqual([dead, dead, dead]);
    },
  );

  together("keeps its cap over all nodes together", async (on) => {
    const { user } = await owned(on);
    const cap = { Name: `key-${fresh()}`, RPM: 7 };
    const { secret } = (await keysOf(on, user, "POST", "", cap)).body;
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => chat(on.nodes[i % 3]!, secret)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ body }) => body?.error?.code === "rpm_exceeded")).toHaveLength(23);
  });

  together("of a former ancestor is dead on every node once the account has moved", async (on) => {
    const middle = await on.subaccount(owner, { CreditGranted: 20 });
    const other = await on.subaccount(owner, {});
    const team = await on.subaccount(middle, { CreditGranted: 5 });
    const make = (key: string) =>
      on.call(key, "POST", `/dashboard/keys${key === team.key ? "" : `?user=${team.id}`}`, {
        Name: `key-${fresh()}`,
      });
    const [own, foreign] = [(await make(team.key)).body.secret, (await make(middle.key)).body.secret];
    for (const one of [own, foreign]) expect(await everyNode(on, one)).toEqual([200, 200, 200]);
    expect((await on.call(ROOT_KEY, "PUT", `/x-users/${team.id}`, { ParentID: other.id })).status).toBe(200);
    expect(await everyNode(on, own)).toEqual([200, 200, 200]);
    expect(await everyNode(on, foreign)).toEqual(["invalid_api_key", "invalid_api_key", "invalid_api_key"]);
    const late = await Promise.all(
      on.nodes.map((node) =>
        node.call(middle.key, "POST", `/dashboard/keys?user=${team.id}`, { Name: `key-${fresh()}` }),
      ),
    );
    expect(late.map(({ status }) => status)).toEqual([404, 404, 404]);
  });
});

describe("a request", () => {
  together("is served by every node, wherever its account lives, and booked once", async (on) => {
    const { user } = await owned(on);
    const answers = await Promise.all(on.nodes.map((node) => chat(node, user.key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const lines = await on.ledger(user.key);
    expect(charges(lines)).toHaveLength(3);
    const cost = answers.reduce((sum, { headers }) => sum + nano(headers.get("x-arbor-cost")!), 0);
    expect(charged(lines)).toBe(cost);
    for (const node of on.nodes)
      expect((await node.call(user.key, "GET", "/dashboard/status")).body.balance).toBe(
        (nano(10) - cost) / 1e9,
      );
  });

  together(
    "that is repeated at another node gets the first one's answer, and is called and charged once",
    async (on) => {
      const { user, ownerNode, otherNodes } = await owned(on);
      const key = { "idempotency-key": fresh() };
      const calls = on.provider.totals().calls;
      const first = await chat(otherNodes[0], user.key, "again [[output=4]]", key);
      expect(first.status).toBe(200);
      for (const node of [otherNodes[1], ownerNode, otherNodes[0]]) {
        const again = await chat(node, user.key, "again [[output=4]]", key);
        expect([again.status, again.text]).toEqual([200, first.text]);
      }
      expect(on.provider.totals().calls - calls).toBe(1);
      expect(charges(await on.ledger(user.key))).toHaveLength(1);
      expect((await chat(otherNodes[1], user.key, "something else", key)).body.error.code).toBe(
        "idempotency_mismatch",
      );
    },
  );

  together(
    "that comes to all nodes at once is called and charged once, and all get its answer",
    async (on) => {
      const { user } = await owned(on);
      const key = { "idempotency-key": fresh() };
      const calls = on.provider.totals().calls;
      const answers = await Promise.all(
        on.nodes.map((node) => chat(node, user.key, "at once [[output=4 head_ms=600]]", key)),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(on.provider.totals().calls - calls).toBe(1);
      expect(charges(await on.ledger(user.key))).toHaveLength(1);
    },
  );
});

describe("limits are the cluster's", () => {
  const hammered = async (on: Cluster, user: Account, times: number, said: string) => {
    const answers = await Promise.all(
      Array.from({ length: times }, (_, nth) => chat(on.nodes[nth % on.nodes.length]!, user.key, said)),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    return {
      admitted: answers.length - refused.length,
      codes: [...new Set(refused.map(({ body }) => body.error.code))],
    };
  };

  together("RPM: exactly so many are admitted, whichever nodes are asked", async (on) => {
    const { user } = await owned(on, { RPM: 17 });
    expect(await hammered(on, user, 90, "[[output=1]]")).toEqual({ admitted: 17, codes: ["rpm_exceeded"] });
  });

  together("TPM: no more tokens than it allows", async (on) => {
    const { user } = await owned(on, { TPM: 1_000 });
    const said = `${"word ".repeat(40)}[[prompt=50 output=50]]`;
    const { admitted, codes } = await hammered(on, user, 60, said);
    expect(codes).toEqual(["tpm_exceeded"]);
    expect(admitted).toBeWithin(1, 11);
  });

  together("HardLimit and DailyLimit: nothing is spent beyond them", async (on) => {
    // Everything is answered before the next is decided only if it is booked: these are decided all at once.
    const said = `${"word ".repeat(40)}[[prompt=50 output=50 head_ms=300]]`;
    const cost = 50 * 1_000 + 50 * 2_000;
    const limits = { hard: 12 * cost, daily: 7 * cost };
    const { user: hard } = await owned(on, { HardLimit: limits.hard / 1e9 });
    const { user: daily } = await owned(on);
    await on.call(owner.key, "PUT", `/x-users/${daily.id}`, { DailyLimit: limits.daily / 1e9 });
    for (const [user, limit, code] of [
      [hard, limits.hard, "hard_limit_reached"],
      [daily, limits.daily, "daily_limit_reached"],
    ] as const) {
      const { admitted, codes } = await hammered(on, user, 60, said);
      expect(codes).toEqual([code]);
      expect(charged(await on.ledger(user.key))).toBe(admitted * cost);
      expect(admitted * cost).toBeWithin(cost, limit + 1);
    }
  });

  together("balance: it never falls below 0", async (on) => {
    // 150 USD a million each way: 50 + 50 tokens cost 0.15 USD.
    const dear = { ChatPricing: { [MODEL]: { InputText: 1_000, OutputText: 2_000 } } };
    const other = await on.owner({ pricing: dear });
    const user = await on.subaccount(other, { CreditGranted: 2 });
    const { codes } = await hammered(on, user, 60, `${"word ".repeat(40)}[[prompt=50 output=50]]`);
    expect(codes).toEqual(["insufficient_balance"]);
    expect(await on.balance(user.key)).toBeWithin(0, 2);
  });
});

describe("what is changed at one node is in force at the others", () => {
  together("a rotated key admits nothing anywhere once it is answered", async (on) => {
    const { user, ownerNode, otherNodes } = await owned(on);
    for (const node of on.nodes) expect((await chat(node, user.key)).status).toBe(200);
    const rotated = await otherNodes[0].call(user.key, "POST", "/x-self", { confirm: confirming("SELF") });
    expect(rotated.status).toBe(200);
    const refused = await Promise.all(
      [otherNodes[1], ownerNode, otherNodes[0]].map((node) => chat(node, user.key)),
    );
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401]);
    const key = rotated.body.rotate.key;
    for (const node of on.nodes) expect((await chat(node, key)).status).toBe(200);
    const look = (node: ClusterNode) => node.call(user.key, "GET", "/dashboard/status");
    await everywhere("it is refused", on.nodes, look, ({ status }) => status === 401);
  });

  together("a suspended account is refused at once", async (on) => {
    const { user, otherNodes } = await owned(on);
    for (const node of on.nodes) expect((await chat(node, user.key)).status).toBe(200);
    await otherNodes[0].call(owner.key, "PUT", `/x-users/${user.id}`, { Suspended: true });
    for (const node of on.nodes)
      expect((await chat(node, user.key)).body.error.code).toBe("account_suspended");
  });

  together("AllowModels of an account", async (on) => {
    const { user, otherNodes } = await owned(on);
    for (const node of on.nodes) expect((await chat(node, user.key)).status).toBe(200);
    await otherNodes[0].call(owner.key, "PUT", `/x-users/${user.id}`, { AllowModels: "nothing-else" });
    const isRefused = ({ body }: Answer) => body.error?.code === "model_not_allowed";
    await everywhere("it is in force", on.nodes, (node) => chat(node, user.key), isRefused);
  });

  together("prices of an Owner", async (on) => {
    const other = await on.owner();
    const [first, ...others] = on.nodes as [ClusterNode, ...ClusterNode[]];
    const cost = async (node: ClusterNode) =>
      (await chat(node, other.key, "[[prompt=10 output=10]]")).headers.get("x-arbor-cost");
    for (const node of on.nodes) expect(await cost(node)).toBe("0.00003");
    const dearer = { PRICING: { ChatPricing: { [MODEL]: { InputText: 2, OutputText: 3 } } } };
    expect((await first.call(other.key, "PUT", "/x-config", dearer)).status).toBe(200);
    await everywhere("it is charged", others, cost, (one) => one === "0.00005");
  });

  together("a provider key that is disabled, and one that is added", async (on) => {
    const other = await on.owner({ keys: 1 });
    const [first, ...others] = on.nodes as [ClusterNode, ...ClusterNode[]];
    for (const node of on.nodes) expect((await chat(node, other.key)).status).toBe(200);
    const [key] = other.keys;
    expect((await first.call(other.key, "PUT", `/x-keys/${key!.id}`, { Status: false })).status).toBe(200);
    const ask = (node: ClusterNode) => chat(node, other.key);
    await everywhere("nobody uses it", others, ask, ({ body }) => body.error?.code === "no_available_key");
    await on.level(other, 1, 1);
    await everywhere("the new one serves", others, ask, ({ status }) => status === 200);
  });

  together(
    "an account that was just made is known everywhere, also where its key was tried before",
    async (on) => {
      const answers = await Promise.all(
        on.nodes.map(async (node) => {
          const user = await on.subaccount(owner);
          return (await chat(node, user.key)).status;
        }),
      );
      expect(answers).toEqual([200, 200, 200]);
    },
  );
});

together("a provider key that fails at one node sleeps at the others", async (on) => {
  const other = await on.owner({ keys: 2 });
  const [first, second, third] = on.nodes as [ClusterNode, ClusterNode, ClusterNode];
  const bad = other.secrets[0]!;
  on.provider.behave(bad, "fault=500");
  await until("it sleeps where it failed", async () => {
    expect((await chat(first, other.key)).status).toBe(200);
    return (await first.call(other.key, "GET", "/x-conf")).body.SleepingKeys?.length === 1;
  });
  const look = (node: ClusterNode) => node.call(other.key, "GET", "/x-conf");
  await everywhere("it sleeps", [second, third], look, ({ body }) => body.SleepingKeys?.length === 1);
  const failures = on.provider.calls().filter(({ status }) => status === 500).length;
  for (const node of [second, third, second, third]) expect((await chat(node, other.key)).status).toBe(200);
  expect(on.provider.calls().filter(({ status }) => status === 500)).toHaveLength(failures);
  on.provider.behave(bad, null);
});

together(
  "mails are sent once, whichever node sends them",
  async (on) => {
    const config = {
      EMAIL_SMTP: "127.0.0.1",
      EMAIL_PORT: String(office.port),
      EMAIL_AUTH: "",
      EMAIL_TLS: "false",
      SERVICE_MAIL: "service@cluster.example",
    };
    const sender = await on.owner({ keys: 1, config });
    const users = await Promise.all(
      [1, 2, 3, 4].map((nth) =>
        on.subaccount(sender, { SoftLimit: 0.1, BillingEmail: `pays-${nth}@cluster.example` }),
      ),
    );
    await Promise.all(
      users.map(({ key }, nth) =>
        on.nodes[nth % 3]!.call(key, "POST", "/v1/chat/completions", {
          ...asking("go [[output=100000]]"),
          max_tokens: 100_000,
        }),
      ),
    );
    const bad = sender.secrets[0]!;
    on.provider.behave(bad, "fault=500");
    const letters = (address: string) => office.letters.filter(({ to }) => to.includes(address));
    await until(
      "a Level without a key is reported",
      async () => {
        await Promise.all(on.nodes.map((node) => chat(node, sender.key)));
        return letters("service@cluster.example").length > 0;
      },
      15_000,
    );
    for (const nth of [1, 2, 3, 4])
      await until(`pays-${nth} has mail`, () => letters(`pays-${nth}@cluster.example`).length > 0, 15_000);
    // Two looks of every node's later.
    await Bun.sleep(5_000);
    expect([1, 2, 3, 4].map((nth) => letters(`pays-${nth}@cluster.example`).length)).toEqual([1, 1, 1, 1]);
    expect(letters("service@cluster.example").map((one) => headerOf(one, "Subject"))).toEqual([
      "Level 1 has no usable key",
    ]);
    on.provider.behave(bad, null);
  },
  120_000,
);

describe("GET /x-cluster", () => {
  together("shows the same cluster at every node, and health", async (on) => {
    await on.balanced();
    const seen = await Promise.all(on.nodes.map((node) => node.call(ROOT_KEY, "GET", "/x-cluster")));
    for (const [i, { status, body }] of seen.entries()) {
      expect([status, body.node]).toEqual([200, on.nodes[i]!.name]);
      expect(body.nodes.map(({ name, state }: Json) => [name, state]).sort()).toEqual([
        ["a", "up"],
        ["b", "up"],
        ["c", "up"],
      ]);
      expect(body.shards.map(({ shard }: Json) => shard)).toEqual(
        Array.from({ length: 256 }, (_, shard) => shard),
      );
      expect(body.shards.every(({ owner, epoch }: Json) => "abc".includes(owner) && epoch > 0)).toBe(true);
      const owned = body.nodes.map(({ shards }: Json) => shards);
      expect(owned.reduce((sum: number, one: number) => sum + one, 0)).toBe(256);
      expect(Object.values(body.health).every((count) => count === 0)).toBe(true);
      for (const { health, gauges, incarnation, version } of body.nodes)
        expect([typeof health, typeof gauges, typeof incarnation, version]).toEqual([
          "object",
          "object",
          "string",
          "0.1.0",
        ]);
    }
    expect(seen.map(({ body }) => JSON.stringify(body.shards))).toEqual(
      seen.map(() => JSON.stringify(seen[0]!.body.shards)),
    );
  });

  together("is Root's alone", async (on) => {
    expect((await on.call(owner.key, "GET", "/x-cluster")).body.error.code).toBe("not_root");
  });

  together("answers while a node is frozen, which it shows without figures", async (on) => {
    const [frozen, awake] = on.nodes as [ClusterNode, ClusterNode];
    frozen.signal("SIGSTOP");
    try {
      // Answered before the frozen node is released, so that it was not waited for.
      const { status, body } = await awake.call(ROOT_KEY, "GET", "/x-cluster");
      expect(status).toBe(200);
      expect(body.nodes.find(({ name }: Json) => name === frozen.name)).toMatchObject({
        health: null,
        gauges: null,
      });
    } finally {
      frozen.signal("SIGCONT");
    }
    await on.settled();
  });
});

together("nothing of all this is a difference to verify", async (on) => {
  expect((await on.verified()).findings).toEqual([]);
});
