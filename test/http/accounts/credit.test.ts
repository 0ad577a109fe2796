// Credit by PUT /x-users: recharges and refunds to the last digit, who pays them, what the parent must keep; and what Root
// alone does to an account: figures set by hand, moves.

import { describe, expect, test } from "bun:test";
import { fresh, nano, until } from "../../e2e/harness.ts";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";
import { changing } from "../changing.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 100_000 }));
const team = preparedEach(() => bench.subaccount(owner, { CreditGranted: 100 }));

const DAY_MS = 86_400_000;

const { put, record } = changing(() => ({ bench, owner, team }));

describe("credit", () => {
  const both = async (key = owner.key) => [nano(await bench.balance(key)), nano((await record()).Balance)];

  test.each([0.000000001, 1, 12.345678901, 3.1])("%d goes from the parent to the account", async (amount) => {
    const [parent, child] = await both();
    const { body } = await put({ CreditGranted: amount });
    expect(body.User.Updates).toEqual({ CreditGranted: amount, Balance: (await record()).Balance });
    expect(await both()).toEqual([parent! - nano(amount), child! + nano(amount)]);
    const line = (await bench.ledger(team.key)).at(-1);
    expect([line.type, nano(line.amount)]).toEqual(["transfer_in", nano(amount)]);
  });

  test("negative goes back, at most what is there", async () => {
    const [parent, child] = await both();
    expect((await put({ CreditGranted: -30.5 })).body.User.Updates.Balance).toBe(69.5);
    expect(await both()).toEqual([parent! + nano(30.5), child! - nano(30.5)]);
    for (const key of [team.key, owner.key]) expect((await bench.ledger(key)).at(-1).type).toBe("refund");
    properError(await put({ CreditGranted: -69.500000001 }), 400, "insufficient_balance");
    expect((await put({ CreditGranted: -69.5 })).body.User.Updates.Balance).toBe(0);
  });

  test("of a grandchild comes out of its parent, whichever account above it asks", async () => {
    const child = await bench.subaccount(team, { CreditGranted: 10 });
    const above = await bench.balance(owner.key);
    await put({ CreditGranted: 5 }, { id: child.id });
    await put({ CreditGranted: -2 }, { id: child.id });
    expect([await bench.balance(team.key), await bench.balance(child.key)]).toEqual([87, 13]);
    expect(await bench.balance(owner.key)).toBe(above);
  });

  test("by Root is made, and what Root takes goes to the parent", async () => {
    const [parent, child] = await both();
    await put({ CreditGranted: 7 }, { key: bench.rootKey });
    expect(await both()).toEqual([parent!, child! + nano(7)]);
    expect((await bench.ledger(team.key)).at(-1).type).toBe("grant");
    await put({ CreditGranted: -4 }, { key: bench.rootKey });
    expect(await both()).toEqual([parent! + nano(4), child! + nano(3)]);
  });

  test("the parent keeps the Owner's UserMinBalance", async () => {
    const thrifty = await bench.owner({ credit: 100, config: { USER_MIN_BALANCE: 20 } });
    const parent = await bench.subaccount(thrifty, { CreditGranted: 50 });
    const child = await bench.subaccount(parent, { CreditGranted: 10 });
    for (const [key, id, amount] of [
      [thrifty.key, parent.id, 30.01],
      [thrifty.key, child.id, 20.01],
      [parent.key, child.id, 20.01],
    ] as const) {
      const answer = await put({ CreditGranted: amount }, { key, id });
      expect(answer.body.error.code).toBe("insufficient_parent_balance");
      expect((await put({ CreditGranted: Math.floor(amount) }, { key, id })).status).toBe(200);
      await put({ CreditGranted: -Math.floor(amount) }, { key, id });
    }
    const born = userBody({ CreditGranted: 20.5 });
    expect((await bench.call(parent.key, "POST", "/x-users", born)).body.error.code).toBe(
      "insufficient_parent_balance",
    );
    // What Root gives, nobody has to keep.
    expect((await put({ CreditGranted: 500 }, { key: bench.rootKey, id: child.id })).status).toBe(200);
  });

  test("the parent gives no more than it has", async () => {
    const child = await bench.subaccount(team, { CreditGranted: 10 });
    properError(await put({ CreditGranted: 90.01 }, { id: child.id }), 400, "insufficient_parent_balance");
    expect((await put({ CreditGranted: 90 }, { id: child.id })).status).toBe(200);
  });

  test("what a request in flight holds cannot be taken", async () => {
    const running = bench.chat(team.key, "[[head_ms=400 output=1]]", { max_tokens: 40_000_000 });
    await until("it is in flight", () => bench.provider.inFlight() === 1);
    expect((await put({ CreditGranted: -50 })).body.error.code).toBe("insufficient_balance");
    await running;
    expect((await put({ CreditGranted: -50 })).status).toBe(200);
  });

  test("of many at once each moves once", async () => {
    await Promise.all(Array.from({ length: 20 }, () => put({ CreditGranted: 1.5 })));
    expect((await record()).Balance).toBe(130);
  });

  test("with an Idempotency-Key moves once, and answers as before", async () => {
    const headers = { "idempotency-key": fresh() };
    const send = () => bench.call(owner.key, "PUT", `/x-users/${team.id}`, { CreditGranted: 5 }, { headers });
    const first = await send();
    const second = await send();
    expect(second.body).toEqual(first.body);
    expect((await record()).Balance).toBe(105);
  });

  test("of 0 moves nothing and is no mistake", async () => {
    expect((await put({ CreditGranted: 0, Days: 9 })).body.User.Updates.Balance).toBe(100);
    expect(await bench.ledger(team.key)).toHaveLength(1);
  });

  test("beyond what an account can hold: 400 invalid_parameter, and nothing moves", async () => {
    expect((await put({ CreditGranted: 9_000_000 }, { key: bench.rootKey })).status).toBe(200);
    const change = { CreditGranted: 9_000_000, Alias: "rich" };
    properError(await put(change, { key: bench.rootKey }), 400, "invalid_parameter");
    expect(await record()).toMatchObject({ Balance: 9_000_100, Alias: team.name });
  });

  test("negative goes back as an entry valid 180 days, whatever Days says", async () => {
    const giver = await bench.subaccount(owner, { CreditGranted: 20, Days: 5 });
    const child = await bench.subaccount(giver, { CreditGranted: 10 });
    await put({ CreditGranted: -3, Days: 2 }, { id: child.id });
    const { credits } = (await bench.call(giver.key, "GET", "/dashboard/info")).body.balance;
    const last = credits.at(-1);
    expect(last.amount).toBe(3);
    expect((Date.parse(last.expires_at) - bench.now()) / DAY_MS).toBeWithin(179.9, 180.0001);
  });
});

describe("Root", () => {
  const asRoot = (change: object, id = team.id) => put(change, { key: bench.rootKey, id });

  test("sets figures by a line of the ledger that moves nothing", async () => {
    const before = await record();
    const { body } = await asRoot({ CreditUsed: 12.5, ChargeAmount: 99, XCredit: 3 });
    expect(body.User.Updates).toEqual({ CreditUsed: 12.5, ChargeAmount: 99, XCredit: 3 });
    const figures = { CreditUsed: 12.5, ChargeAmount: 99, XCredit: 3 };
    expect(await record()).toEqual({ ...before, ...figures, UpdatedAt: expect.any(String) });
    const line = (await bench.ledger(team.key)).at(-1);
    expect(line).toMatchObject({ type: "adjust", amount: 0, balance_after: 100, by: 1, after: figures });
    expect(line.before).toEqual({ CreditUsed: 0, ChargeAmount: 100, XCredit: 0 });
  });

  test("moves an account, and its DNA follows", async () => {
    const other = await bench.subaccount(owner, { CreditGranted: 50 });
    const { body } = await asRoot({ ParentID: other.id, Alias: "moved" });
    expect(body.User.Updates).toEqual({
      ParentID: other.id,
      DNA: `.1.${owner.id}.${other.id}.`,
      Alias: "moved",
    });
    expect((await bench.call(other.key, "GET", `/x-users/${team.id}`)).body[0]).toMatchObject({
      ParentID: other.id,
      Balance: 100,
    });
    expect((await bench.call(owner.key, "GET", `/x-users/${team.id}`)).status).toBe(404);
    // From now on its new parent pays.
    await put({ CreditGranted: 5 }, { key: other.key });
    expect(await bench.balance(other.key)).toBe(45);
  });

  test("moves it to another Owner's tree, whose keys and prices serve it then", async () => {
    const other = await bench.owner({
      pricing: { ChatPricing: { "bench-model": { InputText: 10, OutputText: 20 } } },
    });
    expect((await asRoot({ ParentID: other.id, DNA: `.1.${other.id}.` })).status).toBe(200);
    const answer = await bench.chat(team.key, "[[prompt=10 output=10]]");
    expect([answer.status, answer.headers.get("x-arbor-cost")]).toEqual([200, "0.0003"]);
  });

  /** A move below another account, which was made and changed so. */
  async function below(made: Record<string, unknown> = {}, change?: object): Promise<object> {
    const { id } = await bench.subaccount(owner, made);
    if (change !== undefined) await put(change, { id });
    return { ParentID: id };
  }

  test.each([
    ["below Root", async () => ({ ParentID: 1 }), "invalid_parameter"],
    ["below itself", async () => ({ ParentID: team.id }), "invalid_parameter"],
    ["where it is", async () => ({ ParentID: owner.id }), "invalid_parameter"],
    ["by DNA alone", async () => ({ DNA: `.1.${owner.id}.` }), "invalid_parameter"],
    [
      "with a DNA that does not agree",
      async () => ({ ...(await below()), DNA: ".1.9." }),
      "invalid_parameter",
    ],
    ["and recharges at once", async () => ({ ...(await below()), CreditGranted: 5 }), "invalid_parameter"],
    ["below who has dearer Rates", () => below({ Rates: 3 }), "rate_below_parent"],
    ["below who has fewer Resources", () => below({ Resources: "/v1/embeddings" }), "resources_not_subset"],
    ["below who may have no subaccounts", () => below({}, { UserLimit: 0 }), "user_limit_reached"],
  ])("does not move an account %s", async (_, change, code) => {
    const given = { Alias: "never", ...(await change()) };
    const before = await record();
    properError(await asRoot(given), 400, code);
    expect(await record()).toEqual(before);
  });

  test("does not move an account that has subaccounts, nor to nobody", async () => {
    const other = await bench.subaccount(owner);
    expect((await asRoot({ ParentID: 99_999_999 })).body.error.code).toBe("user_not_found");
    await bench.subaccount(team);
    properError(await asRoot({ ParentID: other.id }), 400, "has_subaccounts");
  });

  test("Rates and Resources that come with it are those that the new parent judges", async () => {
    const strict = { CreditGranted: 5, Rates: 2, Resources: "/v1/messages" };
    const parent = await bench.subaccount(owner, strict);
    await put({ Resources: "/v1/chat/completions" });
    properError(await asRoot({ ParentID: parent.id }), 400, "rate_below_parent");
    properError(await asRoot({ ParentID: parent.id, Rates: 3 }), 400, "resources_not_subset");
    const fit = { ParentID: parent.id, Rates: 3, Resources: "/v1/messages" };
    expect((await asRoot(fit)).status).toBe(200);
    expect(await record()).toMatchObject(fit);
  });
});

describe("an amount with more than nine places", () => {
  test.each([
    [2.0000000001, 2],
    [2.0000000005, 2.000000001],
  ])("%d moves as %d, and the answers say so", async (given, moved) => {
    const Name = `rounded-${fresh()}`;
    const body = userBody({ Name, CreditGranted: given });
    const { User } = (await bench.call(owner.key, "POST", "/x-users", body)).body;
    expect(User.Updates).toMatchObject({ CreditGranted: moved, Balance: moved });
    const line = (await bench.ledger(User.SecretKey)).at(-1);
    expect(line.amount).toBe(moved);
    for (const [sign, balance] of [
      [1, 2 * moved],
      [-1, moved],
    ] as const) {
      const { Updates } = (await put({ CreditGranted: sign * given }, { id: User.ID })).body.User;
      expect(Updates.CreditGranted).toBe(sign * moved);
      expect(nano(Updates.Balance)).toBe(nano(balance));
    }
  });
});
