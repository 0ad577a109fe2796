// The specification's order of routing: one test for each of its six steps, through HTTP, with a configuration in which any
// other order would answer otherwise. Each step's own rules are tested with the step.

import { describe, expect, test } from "bun:test";
import type { Account, Json, Owner } from "../../e2e/harness.ts";
import { ask } from "../../e2e/harness-keys.ts";
import { useBench } from "../../e2e/use-bench.ts";

const bench = useBench();

interface TestAccounts {
  readonly owner: Owner;
  readonly user: Account;
}

/** Every model is priced and at Level 1, unless the configuration says otherwise; `mapper` is the account's own. */
async function createAccounts(config: object = {}, mapper = ""): Promise<TestAccounts> {
  const pricing = { ChatPricing: { "*": { InputText: 1, OutputText: 2 } } };
  const owner = await bench.owner({ pricing, config });
  const user = await bench.subaccount(owner);
  if (mapper !== "") await must(user.key, "PUT", `/x-users/${user.id}`, { ModelMapper: mapper });
  return { owner, user };
}

async function must(key: string, method: string, path: string, body?: object): Promise<Json> {
  const answer = await bench.call(key, method, path, body);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
}

/** Where a request for this model goes: model and Level that answered, or the code of the refusal. */
async function way({ user }: TestAccounts, model = "asked"): Promise<string> {
  const { result, model: by, level } = await ask(bench, user, { more: { model } });
  return result === "200" ? `${by} at ${level}` : result;
}

describe("Routing order", () => {
  test("1. the user's ModelMapper: before the Owner's, which maps what comes of it", async () => {
    const accounts = await createAccounts(
      { MODEL_MAPPER: "asked=of-owner,of-user=of-both" },
      "asked=of-user",
    );
    expect(await way(accounts)).toBe("of-both at 1");
  });

  test("2. the Owner's ModelMapper: after the user's, which maps no second time", async () => {
    const accounts = await createAccounts({ MODEL_MAPPER: "asked=of-owner" }, "of-owner=of-user");
    expect(await way(accounts)).toBe("of-owner at 1");
  });

  test("3. LevelMapper: of the model as both have mapped it", async () => {
    const accounts = await createAccounts(
      { MODEL_MAPPER: "of-user=of-both", LEVEL_MAPPER: "asked=1,of-user=1,of-both=3" },
      "asked=of-user",
    );
    await bench.level(accounts.owner, 3, 1);
    expect(await way(accounts)).toBe("of-both at 3");
  });

  test("4. ModelLimits: of the mapped model, and before a key is looked for", async () => {
    const accounts = await createAccounts({
      MODEL_MAPPER: "asked=mapped",
      MODEL_LIMITS: { mapped: { rpm: 1 } },
    });
    const [key] = accounts.owner.keys;
    expect(await way(accounts)).toBe("mapped at 1");
    await must(accounts.owner.key, "PUT", `/x-keys/${key!.id}`, { Status: false });
    expect(await way(accounts)).toBe("429 rpm_exceeded");
    expect(await way(accounts, "other")).toBe("503 no_available_key");
  });

  test("5. a key of that Level's pool that is available", async () => {
    const accounts = await createAccounts({ LEVEL_MAPPER: "asked=3" });
    const [disabled, good] = await bench.level(accounts.owner, 3, 2);
    await must(accounts.owner.key, "PUT", `/x-keys/${disabled!.id}`, { Status: false });
    const before = bench.provider.calls().length;
    expect([await way(accounts), await way(accounts)]).toEqual(["asked at 3", "asked at 3"]);
    const tails = bench.provider.calls().slice(before);
    expect(tails.map(({ key }) => key)).toEqual([good, good].map((one) => one!.secret.slice(-4)));
  });

  test("6. on failure ModelFailover, whose model finds its own Level by steps 3 to 5", async () => {
    const accounts = await createAccounts({
      MODEL_FAILOVER: "asked=backup",
      LEVEL_MAPPER: "asked=1,backup=3",
    });
    await bench.level(accounts.owner, 3, 1);
    bench.provider.behave(accounts.owner.secrets[0]!, "fault=500");
    expect(await way(accounts)).toBe("backup at 3");
  });

  test("6. where the Level has no usable key SwitchOver, before any backup model", async () => {
    const accounts = await createAccounts({
      ...{ MODEL_FAILOVER: "asked=backup", SWITCH_OVER: "1=3,3=4", LEVEL_MAPPER: "asked=1,backup=2" },
    });
    for (const level of [2, 4]) await bench.level(accounts.owner, level, 1);
    await must(accounts.owner.key, "PUT", `/x-keys/${accounts.owner.keys[0]!.id}`, { Status: false });
    expect(await way(accounts)).toBe("asked at 4");
  });

  test("is reported by explain in just this order", async () => {
    const { user } = await createAccounts({ MODEL_MAPPER: "of-user=of-both" }, "asked=of-user");
    const { steps, limits, candidates } = await must(user.key, "GET", "/dashboard/explain?model=asked");
    const stepNames: string[] = steps.map(({ step }: Json) => step);
    expect(stepNames.filter((step) => ["user_mapper", "owner_mapper", "level"].includes(step))).toEqual([
      "user_mapper",
      "owner_mapper",
      "level",
    ]);
    expect([limits.length, candidates.length].every((count) => count > 0)).toBe(true);
  });
});
