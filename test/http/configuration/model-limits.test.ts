// Limits of models, sentence by sentence of the specification: whose figures hold, when their windows end, and that they
// count what was finally used, by whatever name it was asked for. Through HTTP, by business time.

import { beforeAll, describe, expect, test } from "bun:test";
import type { Account, Answer, Json, Owner } from "../../e2e/harness.ts";
import { useBench } from "../../e2e/use-bench.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const bench = useBench();
beforeAll(async () => {
  atTime(12, 0);
});

/** Moves to this time of the next UTC day. */
function atTime(hour: number, minute: number): void {
  const now = bench.now();
  bench.moveClock(now - (now % DAY_MS) + DAY_MS + (hour * 60 + minute) * MINUTE_MS - now);
}

interface TestAccounts {
  readonly owner: Owner;
  readonly user: Account;
}

/** Every model is priced, and all of them are at Level 1 unless the configuration says otherwise. */
async function createAccounts(config: object = {}, limits?: object): Promise<TestAccounts> {
  const pricing = { ChatPricing: { "*": { InputText: 1, OutputText: 2 } } };
  const owner = await bench.owner({ pricing, config });
  const user = await bench.subaccount(owner, limits === undefined ? {} : { ModelLimits: limits });
  return { owner, user };
}

const ask = (user: Account, model: string): Promise<Answer> =>
  bench.chat(user.key, "[[prompt=30 output=10]]", { model, max_tokens: 10 });
/** The codes of requests made one after another; 200: answered. */
async function codes(user: Account, ...models: string[]): Promise<(string | number)[]> {
  const found: (string | number)[] = [];
  for (const model of models) {
    const { status, body } = await ask(user, model);
    found.push(status === 200 ? 200 : body.error.code);
  }
  return found;
}
const must = async (answer: Promise<Answer>): Promise<Json> => {
  const { status, body, text } = await answer;
  if (status !== 200) throw new Error(text);
  return body;
};
const put = (owner: Owner, user: Account, change: object) =>
  must(bench.call(owner.key, "PUT", `/x-users/${user.id}`, change));
const map = (user: Account, ModelMapper: string) =>
  must(bench.call(user.key, "PUT", `/x-users/${user.id}`, { ModelMapper }));

describe("Precedence of model limits: account, then Owner, then system default", () => {
  test("the system's default is no limit", async () => {
    const { user } = await createAccounts();
    expect(await codes(user, "m", "m", "m", "m")).toEqual([200, 200, 200, 200]);
  });

  test("the Owner's MODEL_LIMITS hold for every account, and for each one separately", async () => {
    const { owner, user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 1 } } });
    const other = await bench.subaccount(owner);
    expect(await codes(user, "m", "m")).toEqual([200, "rpm_exceeded"]);
    expect(await codes(other, "m", "m")).toEqual([200, "rpm_exceeded"]);
  });

  test("the account's own figure goes before the Owner's, be it higher", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 1 } } }, { m: { rpm: 2 } });
    expect(await codes(user, "m", "m", "m")).toEqual([200, 200, "rpm_exceeded"]);
  });

  test("or lower", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 3 } } }, { m: { rpm: 1 } });
    expect(await codes(user, "m", "m")).toEqual([200, "rpm_exceeded"]);
  });

  test("a figure that the account does not have is the Owner's", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 9, rph: 1 } } }, { m: { rpm: 5 } });
    expect(await codes(user, "m", "m")).toEqual([200, "rph_exceeded"]);
  });

  test("0 of the account lifts the Owner's", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 1 } } }, { m: { rpm: 0 } });
    expect(await codes(user, "m", "m")).toEqual([200, 200]);
  });

  test("what the Owner lays on all accounts is the account's, until that says otherwise", async () => {
    const { owner, user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 9 } } }, { m: { rpm: 5 } });
    await must(bench.call(owner.key, "POST", "/x-conf", { ModelLimits: { m: { rpm: 1 } } }));
    expect(await codes(user, "m", "m")).toEqual([200, "rpm_exceeded"]);
    await put(owner, user, { ModelLimits: { m: { rpm: 2 } } });
    expect(await codes(user, "m", "m")).toEqual([200, "rpm_exceeded"]);
  });
});

describe("RPD and TPD are quotas per natural day, the others short windows", () => {
  test("rpd is whole again at midnight, and not before", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rpd: 1 } } });
    atTime(23, 50);
    expect(await codes(user, "m", "m")).toEqual([200, "rpd_exceeded"]);
    bench.moveClock(5 * MINUTE_MS);
    expect(await codes(user, "m")).toEqual(["rpd_exceeded"]);
    bench.moveClock(6 * MINUTE_MS);
    expect(await codes(user, "m", "m")).toEqual([200, "rpd_exceeded"]);
  });

  test("so is tpd", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { tpd: 45 } } });
    atTime(23, 50);
    expect(await codes(user, "m", "m", "m")).toEqual([200, "tpd_exceeded", "tpd_exceeded"]);
    bench.moveClock(11 * MINUTE_MS);
    expect(await codes(user, "m")).toEqual([200]);
  });

  test("rph is not: its window slides across midnight", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rph: 1 } } });
    atTime(23, 50);
    expect(await codes(user, "m")).toEqual([200]);
    bench.moveClock(20 * MINUTE_MS);
    expect(await codes(user, "m")).toEqual(["rph_exceeded"]);
    bench.moveClock(45 * MINUTE_MS);
    expect(await codes(user, "m")).toEqual([200]);
  });
});

describe("Usage is counted against the model finally used: aliases and snapshot names do not split a quota", () => {
  test("an alias of the account's own map and its target share a window", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 2 } } });
    await map(user, "alias=m");
    expect(await codes(user, "alias", "m", "alias", "m")).toEqual([200, 200, "rpm_exceeded", "rpm_exceeded"]);
  });

  test("so do snapshot names that the Owner maps", async () => {
    const { user } = await createAccounts({ MODEL_MAPPER: "m-*=m", MODEL_LIMITS: { m: { rpm: 2 } } });
    expect(await codes(user, "m-2026-01-01", "m-2026-02-02", "m")).toEqual([200, 200, "rpm_exceeded"]);
  });

  test("and names that a cascade maps", async () => {
    const { owner, user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 1 } } });
    await must(bench.call(owner.key, "POST", "/x-conf", { ModelMapper: "alias=m" }));
    expect(await codes(user, "alias", "m")).toEqual([200, "rpm_exceeded"]);
  });

  test("a limit on an alias limits nothing: there is no such model in the end", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { alias: { rpm: 1 } } });
    await map(user, "alias=m");
    expect(await codes(user, "alias", "alias")).toEqual([200, 200]);
  });

  test("the tokens of an alias count with the target's", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { tpm: 45 } } });
    await map(user, "alias=m");
    expect(await codes(user, "alias", "m")).toEqual([200, "tpm_exceeded"]);
  });

  test("a pattern says how much; each model that it matches has a window of its own", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { "wild-*": { rpm: 1 } } });
    expect(await codes(user, "wild-a", "wild-a", "wild-b", "wild-b", "tame", "tame")).toEqual([
      ...[200, "rpm_exceeded"],
      ...[200, "rpm_exceeded"],
      ...[200, 200],
    ]);
  });

  test("what the provider calls the model does not matter", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 1 }, "m-upstream": { rpm: 9 } } });
    expect(await codes(user, "m", "m")).toEqual([200, "rpm_exceeded"]);
  });
});

describe("a failover model", () => {
  const CONFIG = { MODEL_FAILOVER: "first=second", LEVEL_MAPPER: "first=1,second=2" };

  /** The keys of the first model fail, those of the second are well. */
  async function failing(config: object): Promise<TestAccounts> {
    const accounts = await createAccounts({ ...CONFIG, ...config });
    await bench.level(accounts.owner, 2, 1);
    for (const secret of accounts.owner.secrets) bench.provider.behave(secret, "fault=500");
    return accounts;
  }

  test("has its own limit: refused there, it stands in no more", async () => {
    const { user } = await failing({ MODEL_LIMITS: { second: { rpm: 1 } } });
    const answer = await ask(user, "first");
    expect([answer.status, answer.headers.get("x-arbor-model")]).toEqual([200, "second"]);
    expect((await ask(user, "first")).status).toBe(502);
  });

  test("counts what it answers for the other in its own window", async () => {
    const { user } = await failing({ MODEL_LIMITS: { second: { rpm: 1 } } });
    expect(await codes(user, "first", "second")).toEqual([200, "rpm_exceeded"]);
  });

  test("is not held to the first one's", async () => {
    const { user } = await failing({ MODEL_LIMITS: { first: { rpm: 1 } } });
    expect(await codes(user, "first", "second", "second")).toEqual([200, 200, 200]);
  });
});

describe("a limited client sees which limit it met", () => {
  test("by the refusal, which names the model and when to try again", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 1 } } });
    await map(user, "alias=m");
    await ask(user, "m");
    const { status, headers, body } = await ask(user, "alias");
    expect([status, body.error.type, body.error.code]).toEqual([429, "rate_limit_error", "rpm_exceeded"]);
    expect(body.error.message).toContain("limit of 1 RPM of model m ");
    expect(Number(headers.get("retry-after"))).toBeWithin(1, 64);
  });

  test("while a limit of the account's is reported as the account's", async () => {
    const { owner, user } = await createAccounts();
    await put(owner, user, { RPM: 1 });
    await ask(user, "m");
    expect((await ask(user, "m")).body.error.message).toContain("limit of 1 RPM of the account");
  });

  test("by explain, which shows what is left of each limit of the model", async () => {
    const { owner, user } = await createAccounts({ MODEL_LIMITS: { "m*": { rpm: 3, tpd: 900 } } });
    await put(owner, user, { RPM: 50 });
    await map(user, "alias=m");
    await ask(user, "alias");
    const { limits, steps } = await must(bench.call(user.key, "GET", "/dashboard/explain?model=alias"));
    expect(limits).toContainEqual(
      expect.objectContaining({ scope: "model", name: "rpm", limit: 3, remaining: 2 }),
    );
    expect(limits).toContainEqual(
      expect.objectContaining({ scope: "model", name: "tpd", limit: 900, remaining: 860 }),
    );
    expect(limits).toContainEqual(expect.objectContaining({ scope: "account", name: "rpm", limit: 50 }));
    expect(steps).toContainEqual(expect.objectContaining({ step: "limits", in: "m" }));
  });

  test("by a quote, which is refused as the request would be", async () => {
    const { user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 1 } } });
    const body = { model: "m", messages: [{ role: "user", content: "hi" }], max_tokens: 10 };
    const quoted = () =>
      must(bench.call(user.key, "POST", "/v1/quote", { path: "/v1/chat/completions", body }));
    expect((await quoted()).admitted).toBe(true);
    await ask(user, "m");
    expect((await quoted()).refusal).toMatchObject({ code: "rpm_exceeded" });
  });

  test("by the headers, which show the tightest window, whosever it is", async () => {
    const { owner, user } = await createAccounts({ MODEL_LIMITS: { m: { rpm: 5, tpm: 1_000 } } });
    await put(owner, user, { RPM: 50, TPM: 500 });
    const { headers } = await ask(user, "m");
    const shown = (name: string) => headers.get(`x-ratelimit-${name}`);
    expect([shown("limit-requests"), shown("remaining-requests")]).toEqual(["5", "4"]);
    expect(shown("limit-tokens")).toBe("500");
    const other = await ask(user, "other");
    expect(other.headers.get("x-ratelimit-limit-requests")).toBe("50");
  });
});
