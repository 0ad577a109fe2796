// Cascades of POST /x-conf as accounts see them: in force with the next request after the answer, for everybody below
// and for those born later; what an account says afterwards; and the same figures on every endpoint that shows them.

import { describe, expect, test } from "bun:test";
import { type Account, type Answer, fresh, type Json, type Owner } from "../../e2e/harness.ts";
import { useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";

const bench = useBench();

interface TestAccounts {
  readonly owner: Owner;
  readonly user: Account;
  /** Below the user. */
  readonly child: Account;
}

async function createAccounts(config: object = {}): Promise<TestAccounts> {
  const pricing = { ChatPricing: { "*": { InputText: 1, OutputText: 2 } } };
  const owner = await bench.owner({ pricing, config });
  const user = await bench.subaccount(owner, { CreditGranted: 100 });
  return { owner, user, child: await bench.subaccount(user) };
}

const must = async (answer: Promise<Answer>): Promise<Json> => {
  const { status, body, text } = await answer;
  if (status !== 200) throw new Error(text);
  return body;
};
const conf = (key: string, change: object) => must(bench.call(key, "POST", "/x-conf", change));
const put = async (key: string, account: Account, change: object): Promise<Json> =>
  (await must(bench.call(key, "PUT", `/x-users/${account.id}`, change))).User.Updates;
const record = async (key: string, account: Account): Promise<Json> =>
  (await must(bench.call(key, "GET", `/x-dna/${account.id}`)))[0];
const listed = async (key: string, path: string, account: Account): Promise<Json> =>
  (await must(bench.call(key, "GET", path))).find((row: Json) => row.ID === account.id);
const explain = (account: Account, model: string) =>
  must(bench.call(account.key, "GET", `/dashboard/explain?model=${model}`));
/** The model that answers for the one that is asked for. */
const answers = async (account: Account, model: string): Promise<string | null> =>
  (await bench.chat(account.key, "[[output=1]]", { model, max_tokens: 5 })).headers.get("x-arbor-model");

describe("an Owner's cascade of a mapping", () => {
  test("is in force with the next request of everybody below", async () => {
    const { owner, user, child } = await createAccounts();
    for (const account of [user, child]) expect(await answers(account, "asked")).toBe("asked");
    await conf(owner.key, { ModelMapper: "asked=given" });
    for (const account of [owner, user, child]) expect(await answers(account, "asked")).toBe("given");
    await conf(owner.key, { ModelMapper: "asked=other" });
    for (const account of [owner, user, child]) expect(await answers(account, "asked")).toBe("other");
  });

  test("is in force for accounts that are made later", async () => {
    const { owner, user } = await createAccounts();
    await conf(owner.key, { ModelMapper: "asked=given" });
    expect(await answers(await bench.subaccount(user), "asked")).toBe("given");
  });

  test("is nobody's of another tree", async () => {
    const [here, there] = [await createAccounts(), await createAccounts()];
    await conf(here.owner.key, { ModelMapper: "asked=given" });
    expect(await answers(there.user, "asked")).toBe("asked");
  });

  test("takes the place of the account's own entry of that pattern, and leaves its others", async () => {
    const { owner, user } = await createAccounts();
    await put(user.key, user, { ModelMapper: "asked=own,beside=own" });
    await conf(owner.key, { ModelMapper: "asked=given" });
    expect([await answers(user, "asked"), await answers(user, "beside")]).toEqual(["given", "own"]);
  });

  test("gives way to what the account sets afterwards, until the next one", async () => {
    const { owner, user, child } = await createAccounts();
    await conf(owner.key, { ModelMapper: "asked=given" });
    await put(user.key, user, { ModelMapper: "asked=own" });
    expect([await answers(user, "asked"), await answers(child, "asked")]).toEqual(["own", "given"]);
    await conf(owner.key, { ModelMapper: "asked=again" });
    expect([await answers(user, "asked"), await answers(child, "asked")]).toEqual(["again", "again"]);
  });

  test("of a deletion deletes the entry of everybody below", async () => {
    const { owner, user } = await createAccounts();
    await put(user.key, user, { ModelMapper: "asked=own,beside=own" });
    await conf(owner.key, { ModelMapper: "-asked" });
    expect([await answers(user, "asked"), await answers(user, "beside")]).toEqual(["asked", "own"]);
  });

  test("can be deleted by an account for itself", async () => {
    const { owner, user, child } = await createAccounts();
    await conf(owner.key, { ModelMapper: "asked=given,beside=given" });
    expect(await put(user.key, user, { ModelMapper: "-asked" })).toEqual({ ModelMapper: "beside=given" });
    // The Owner's own map is not the account's to delete, and maps after it.
    expect((await explain(user, "asked")).steps[0]).toEqual({
      step: "user_mapper",
      in: "asked",
      out: "asked",
    });
    expect((await explain(child, "asked")).steps[0].rule).toBe("asked=given");
  });

  test("names the model for good: the Owner's own map is passed over, and the trace says so", async () => {
    const { owner, user } = await createAccounts({ MODEL_MAPPER: "given=further" });
    expect(await answers(user, "given")).toBe("further");
    await conf(owner.key, { ModelMapper: "asked=given" });
    expect(await answers(user, "asked")).toBe("given");
    expect((await explain(user, "asked")).steps.slice(0, 2)).toEqual([
      { step: "user_mapper", in: "asked", out: "given", rule: "asked=given", note: "laid by the Owner" },
      { step: "owner_mapper", in: "given", out: "given", note: expect.stringContaining("passed over") },
    ]);
  });

  test("is none when it is PUT /x-config that sets the map", async () => {
    const { owner, user } = await createAccounts();
    await must(bench.call(owner.key, "PUT", "/x-config", { MODEL_MAPPER: "asked=given" }));
    expect(await answers(user, "asked")).toBe("given");
    expect((await record(owner.key, user)).ModelMapper).toBe("");
  });

  test("is listed among the models that can be called", async () => {
    const { owner, user } = await createAccounts();
    const name = `alias-${fresh()}`;
    await conf(owner.key, { ModelMapper: `${name}=given` });
    for (const path of ["/v1/models", "/dashboard/models"]) {
      const body = await must(bench.call(user.key, "GET", path));
      expect((body.data ?? body.models).map((model: Json) => model.id)).toContain(name);
    }
    expect((await bench.call(user.key, "GET", `/v1/models/${name}`)).status).toBe(200);
  });
});

describe("Root's cascade", () => {
  test("reaches Owners and all below, not Root itself, and an Owner may cascade anew", async () => {
    const { owner, user, child } = await createAccounts();
    const other = await createAccounts();
    const asked = `asked-${fresh()}`;
    await conf(bench.rootKey, { ModelMapper: `${asked}=of-root` });
    for (const account of [owner, user, child, other.owner, other.user])
      expect(await answers(account, asked)).toBe("of-root");
    expect((await explain(child, asked)).steps[0].note).toBe("laid by Root");
    await conf(owner.key, { ModelMapper: `${asked}=of-owner` });
    expect([await answers(user, asked), await answers(child, asked)]).toEqual(["of-owner", "of-owner"]);
    await conf(bench.rootKey, { ModelMapper: `${asked}=of-root-again` });
    expect([await answers(user, asked), await answers(child, asked)]).toEqual([
      "of-root-again",
      "of-root-again",
    ]);
    await conf(bench.rootKey, { ModelMapper: `-${asked}` });
    expect((await record(bench.rootKey, user)).ModelMapper).toBe("");
  });

  test("gives way to what an Owner sets for itself afterwards", async () => {
    const { owner, user } = await createAccounts();
    const asked = `asked-${fresh()}`;
    await conf(bench.rootKey, { ModelMapper: `${asked}=of-root` });
    await put(owner.key, owner, { ModelMapper: `${asked}=own` });
    expect([await answers(owner, asked), await answers(user, asked)]).toEqual(["own", "of-root"]);
    await conf(bench.rootKey, { ModelMapper: `-${asked}` });
  });
});

describe("limits in a cascade", () => {
  test("overwrite an account's, are shown everywhere alike, and merge with what it sets afterwards", async () => {
    const { owner, user } = await createAccounts();
    await put(owner.key, user, { ModelLimits: { m: { rpm: 9, tpm: 9_000 }, beside: { rpd: 5 } } });
    await conf(owner.key, { ModelLimits: { m: { rpm: 3 } } });
    const laid = { m: { rpm: 3 }, beside: { rpd: 5 } };
    expect((await record(owner.key, user)).ModelLimits).toEqual(laid);
    for (const path of ["info", "x-user-info", "live"]) {
      expect((await must(bench.call(user.key, "GET", `/dashboard/${path}`))).model_limits).toEqual(laid);
    }
    const after = { m: { rpm: 3, tpd: 70 }, beside: { rpd: 5 } };
    expect(await put(owner.key, user, { ModelLimits: { m: { tpd: 70 } } })).toEqual({ ModelLimits: after });
  });

  test("are deleted by a text, model by model or all of them", async () => {
    const { owner, user } = await createAccounts();
    await put(owner.key, user, { ModelLimits: { a: { rpm: 1 }, b: { rpm: 1 }, c: { rpm: 1 } } });
    await conf(owner.key, { ModelLimits: "-a" });
    expect((await record(owner.key, user)).ModelLimits).toEqual({ b: { rpm: 1 }, c: { rpm: 1 } });
    await conf(owner.key, { ModelLimits: "*" });
    expect((await record(owner.key, user)).ModelLimits).toEqual({});
    await put(owner.key, user, { ModelLimits: { d: { rpm: 1 } } });
    expect((await record(owner.key, user)).ModelLimits).toEqual({ d: { rpm: 1 } });
  });

  test('"*" of an account deletes all that is in effect for it', async () => {
    const { owner, user, child } = await createAccounts();
    await conf(owner.key, { ModelLimits: { m: { rpm: 3 } } });
    await put(owner.key, user, { ModelLimits: { own: { rpm: 1 } } });
    expect(await put(owner.key, user, { ModelLimits: "*" })).toEqual({ ModelLimits: {} });
    expect((await record(owner.key, child)).ModelLimits).toEqual({ m: { rpm: 3 } });
  });

  test("are older than those that an account is born with", async () => {
    const { owner, user } = await createAccounts();
    await conf(owner.key, { ModelLimits: { m: { rpm: 3 }, other: { rpm: 4 } } });
    const born = await bench.subaccount(user, { ModelLimits: { m: { rpm: 8 } } });
    expect((await record(owner.key, born)).ModelLimits).toEqual({ m: { rpm: 8 }, other: { rpm: 4 } });
    await conf(owner.key, { ModelLimits: { m: { rpm: 2 } } });
    expect((await record(owner.key, born)).ModelLimits.m).toEqual({ rpm: 2 });
  });

  test("on an Owner that Root makes with limits of its own are Root's alone", async () => {
    const model = `m-${fresh()}`;
    await conf(bench.rootKey, { ModelLimits: { [model]: { rpm: 3 } } });
    const Name = `own-${fresh()}`;
    const given = userBody({ Name, ModelLimits: { [model]: { rpm: 8 } } });
    const { User } = await must(bench.call(bench.rootKey, "POST", "/x-users", given));
    const [shown] = await must(bench.call(bench.rootKey, "GET", `/x-users/${User.ID}`));
    expect(shown.ModelLimits[model]).toEqual({ rpm: 8 });
    await conf(bench.rootKey, { ModelLimits: `-${model}` });
    const [after] = await must(bench.call(bench.rootKey, "GET", `/x-users/${User.ID}`));
    expect(after.ModelLimits).toEqual({});
  });
});

describe("an account that is moved to another Owner", () => {
  test("has that Owner's cascades, whatever it said before", async () => {
    const [from, into] = [await createAccounts(), await createAccounts()];
    await conf(from.owner.key, { ModelMapper: "asked=of-the-old" });
    await conf(into.owner.key, { ModelMapper: "asked=of-the-new" });
    await put(from.child.key, from.child, { ModelMapper: "asked=own,beside=own" });
    await put(bench.rootKey, from.child, { ParentID: into.user.id });
    expect((await record(bench.rootKey, from.child)).ModelMapper).toBe("beside=own,asked=of-the-new");
    expect(await answers(from.child, "asked")).toBe("of-the-new");
    await put(from.child.key, from.child, { ModelMapper: "asked=own" });
    expect(await answers(from.child, "asked")).toBe("own");
  });
});

describe("records", () => {
  test("show what is in effect, in lists of children, of descendants, unpaged, and one by one", async () => {
    const { owner, user, child } = await createAccounts();
    await put(user.key, user, { ModelMapper: "mine=own" });
    await conf(owner.key, { ModelMapper: "asked=given", ModelLimits: { m: { rpm: 3 } } });
    const settled = async (path: string, account: Account) => {
      // Lists may trail by a moment what accounts say; of cascades they never do.
      const row = await listed(owner.key, path, account);
      expect([row.ModelMapper, row.ModelLimits]).toEqual([
        account === user ? "mine=own,asked=given" : "asked=given",
        { m: { rpm: 3 } },
      ]);
    };
    await settled("/x-users", user);
    for (const path of ["/x-dna", "/x-dna?page=0"]) for (const one of [user, child]) await settled(path, one);
    await settled(`/x-users/${user.id}`, user);
    await settled(`/x-dna/${child.id}`, child);
    expect((await listed(bench.rootKey, "/x-users?size=1000", owner)).ModelMapper).toBe("");
  });

  test("say in the operation log what was in effect before and after", async () => {
    const { owner, user } = await createAccounts();
    await conf(owner.key, { ModelLimits: { m: { rpm: 3 } } });
    await put(owner.key, user, { ModelLimits: "-m" });
    const { logs } = await must(bench.call(owner.key, "GET", "/dashboard/logs"));
    const line = logs.find((one: Json) => one.action === "update_user" && one.target_id === user.id);
    expect(line.details).toContain('"m":{"rpm":3}');
  });
});
