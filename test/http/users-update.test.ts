// PUT /x-users/{identifier}: what each field makes of an account, the syntax of its lists, credit both ways, moves by Root,
// and that one bad field changes nothing.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  type Account,
  type Bench,
  fresh,
  type Json,
  nano,
  type Owner,
  startBench,
  until,
} from "../e2e/harness.ts";
import { properError } from "./proper.ts";

let bench: Bench;
let owner: Owner;
let team: Account;
beforeAll(async () => {
  bench = await startBench();
  owner = await bench.owner({ credit: 100_000 });
});
beforeEach(async () => {
  team = await bench.subaccount(owner, { CreditGranted: 100 });
});
afterAll(() => bench.close());

const put = (change: object, { key = owner.key, id = team.id as number | string } = {}) =>
  bench.call(key, "PUT", `/x-users/${encodeURIComponent(id)}`, change);
const record = async (id = team.id): Promise<Json> =>
  (await bench.call(bench.rootKey, "GET", `/x-dna/${id}`)).body[0];

describe("the answer", () => {
  test("has the given fields as they now are, and the record has them too", async () => {
    const change = {
      Status: true,
      Suspended: false,
      Rates: 1.25,
      HardLimit: 50.000000001,
      SoftLimit: 40,
      AutoQuota: 3,
      DailyLimit: 20,
      UserLimit: 7,
      RPM: 1,
      RPH: 2,
      RPD: 3,
      TPM: 4,
      TPH: 5,
      TPD: 6,
      AllowIPs: "127.0.0.1,::1",
      AllowModels: "gpt-*, bench-model",
      AllowLevels: "1 2,3 2",
      Resources: "/v1/chat/completions,/v1/audio/*",
      ModelLimits: { "gpt-4o": { rpm: 5, tpd: 0 } },
      QRCode: "https://img.example/qr.png",
      Alias: "Blue",
      BillingEmail: "pay@b.example",
      Level: 2,
      Role: 3,
      Gear: 4,
      Tier: 5,
      Factor: 0.5,
      LevelMapper: "gpt-*=1, claude-*=2",
    };
    const now = {
      ...change,
      AllowIPs: "127.0.0.1 ::1",
      AllowModels: "gpt-* bench-model",
      AllowLevels: "1 2 3",
      Resources: "/v1/chat/completions /v1/audio/*",
      LevelMapper: "gpt-*=1,claude-*=2",
    };
    const answer = await put(change);
    expect(answer.body).toEqual({
      Action: "update",
      User: { ID: team.id, Name: team.name, Updates: now },
    });
    const before = await record();
    expect(before).toMatchObject(now);
    // Fields that are not given stay, and no limit of a rate takes the others along.
    await put({ RPM: 9 });
    expect(await record()).toEqual({ ...before, RPM: 9, UpdatedAt: expect.any(String) });
  });

  test.each([
    ["id", (one: Account) => String(one.id)],
    ["name", (one: Account) => one.name.toUpperCase()],
    ["e-mail", (one: Account) => `${one.name}@bench.example`],
  ])("is found by %s", async (_, identifier) => {
    expect((await put({ Alias: "found" }, { id: identifier(team) })).status).toBe(200);
    expect((await record()).Alias).toBe("found");
  });

  test.each(["L0", ".1.", "G1", "nobody-there", "no@body.example", "99999999"])(
    "%s names nobody: 404",
    async (id) => {
      const answer = await put({ Alias: "x" }, { id });
      properError(answer, [404]);
      expect(answer.body.error.code).toBe("user_not_found");
    },
  );

  test("an e-mail of several in reach is ambiguous, of one it is not", async () => {
    const Email = `${fresh()}@twins.example`;
    const one = await bench.subaccount(team, { Email });
    expect((await put({ Alias: "x" }, { id: Email })).body.User.ID).toBe(one.id);
    const two = await bench.subaccount(owner, { Email });
    const answer = await put({ Alias: "y" }, { id: Email });
    properError(answer);
    expect(answer.body.error.code).toBe("ambiguous_identifier");
    expect((await put({ Alias: "z" }, { id: Email, key: team.key })).body.User.ID).toBe(one.id);
    expect((await bench.call(owner.key, "DELETE", `/x-users/${Email}`)).body.error.code).toBe(
      "ambiguous_identifier",
    );
    await bench.call(owner.key, "DELETE", `/x-users/${two.id}`);
    expect((await put({ Alias: "w" }, { id: Email })).body.User.ID).toBe(one.id);
  });
});

describe("AllowModels", () => {
  /** From, given, what it is then; null: 400. */
  test.each([
    ["", "gpt-*", "gpt-*"],
    ["gpt-*", "claude-*", "gpt-* claude-*"],
    ["gpt-*", "gpt-*", "gpt-*"],
    ["gpt-*", "", "gpt-*"],
    ["gpt-* claude-*", "-gpt-*", "claude-*"],
    ["gpt-* claude-*", "-gpt-*, o3 -claude-*", "o3"],
    ["gpt-* claude-*", "-o3", "gpt-* claude-*"],
    ["gpt-* claude-*", "*", ""],
    ["gpt-*", "* o3", "o3"],
    ["gpt-*", "-gpt-*", null],
    ["gpt-* o3", "-gpt-* -o3", null],
    ["", "-gpt-*", null],
    ["", "-gpt-* o3", null],
    ["gpt-*", "* -gpt-*", null],
    ["gpt-*", "-", null],
    ["gpt-*", `${"x".repeat(257)}`, null],
  ])("%j and %j", async (from, given, then) => {
    if (from !== "") await put({ AllowModels: from });
    const answer = await put({ AllowModels: given });
    if (then === null) {
      properError(answer);
      expect(answer.body.error.code).toBe("invalid_parameter");
      expect(answer.body.error.message).toContain("AllowModels");
    } else expect(answer.body.User.Updates).toEqual({ AllowModels: then });
    expect((await record()).AllowModels).toBe(then ?? from);
  });

  test("of many changes at once none is lost", async () => {
    const patterns = Array.from({ length: 30 }, (_, i) => `model-${i}`);
    const answers = await Promise.all(patterns.map((AllowModels) => put({ AllowModels })));
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    expect((await record()).AllowModels.split(" ").sort()).toEqual(patterns.sort());
  });
});

describe("maps", () => {
  test.each([
    ["", "a=b", "a=b"],
    ["a=b", "c*=d", "a=b,c*=d"],
    ["a=b", "a=c", "a=c"],
    ["a=b,c=d", "-a", "c=d"],
    ["a=b,c=d", "-a, e=f , c=g", "c=g,e=f"],
    ["a=b", "-nothing", "a=b"],
    ["a=b", "-a", ""],
    ["a=b", "", "a=b"],
    ["a=b", "a", null],
    ["a=b", "=b", null],
    ["a=b", "a=", null],
    ["a=b", "a=b*", null],
    ["a=b", "__proto__=b", null],
  ])("ModelMapper %j and %j", async (from, given, then) => {
    await put({ ModelMapper: from }, { key: team.key });
    const answer = await put({ ModelMapper: given }, { key: team.key });
    if (then === null) properError(answer);
    else expect(answer.body.User.Updates).toEqual({ ModelMapper: then });
    expect((await record()).ModelMapper).toBe(then ?? from);
  });

  test("ModelMapper is in force with the next request", async () => {
    await put({ ModelMapper: "mine=bench-model" }, { key: team.key });
    const answer = await bench.chat(team.key, "[[output=1]]", { model: "mine" });
    expect([answer.status, answer.headers.get("x-arbor-model")]).toEqual([200, "bench-model"]);
  });

  test.each([
    ["gpt-*=1", "claude-*=-2", "gpt-*=1,claude-*=-2"],
    ["gpt-*=1", "-gpt-*,o3=2", "o3=2"],
    ["gpt-*=1", "gpt-*=one", null],
    ["gpt-*=1", "gpt-*=1.5", null],
  ])("LevelMapper %j and %j", async (from, given, then) => {
    await put({ LevelMapper: from });
    const answer = await put({ LevelMapper: given });
    if (then === null) properError(answer);
    expect((await record()).LevelMapper).toBe(then ?? from);
  });

  const SOME = { "gpt-4o": { rpm: 5, tpm: 100 }, "o*": { rpd: 9 } };
  test.each([
    [{ o3: { rpm: 1 } }, { ...SOME, o3: { rpm: 1 } }],
    [{ "gpt-4o": { rpm: 6 } }, { ...SOME, "gpt-4o": { rpm: 6, tpm: 100 } }],
    [{ "gpt-4o": { tpm: 0 } }, { ...SOME, "gpt-4o": { rpm: 5, tpm: 0 } }],
    ["-o*", { "gpt-4o": SOME["gpt-4o"] }],
    ["-o*, -gpt-4o", {}],
    ["*", {}],
    [{}, SOME],
    ["gpt-4o", null],
    [{ "": { rpm: 1 } }, null],
    [{ o3: { RPM: 1 } }, null],
    [{ o3: { rpm: -1 } }, null],
    [{ o3: { rpm: 1.5 } }, null],
  ])("ModelLimits %j", async (given, then) => {
    await put({ ModelLimits: SOME });
    const answer = await put({ ModelLimits: given });
    if (then === null) {
      properError(answer);
      expect(answer.body.error.message).toContain("ModelLimits");
    }
    expect((await record()).ModelLimits).toEqual(then ?? SOME);
  });
});

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
    const answer = await put({ CreditGranted: -69.500000001 });
    properError(answer);
    expect(answer.body.error.code).toBe("insufficient_balance");
    expect((await put({ CreditGranted: -69.5 })).body.User.Updates.Balance).toBe(0);
  });

  test("of a grandchild comes out of its parent, whoever above it orders", async () => {
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
    const born = { Name: `born-${fresh()}`, Email: "a@b.example", CreditGranted: 20.5 };
    expect((await bench.call(parent.key, "POST", "/x-users", born)).body.error.code).toBe(
      "insufficient_parent_balance",
    );
    // What Root gives, nobody has to keep.
    expect((await put({ CreditGranted: 500 }, { key: bench.rootKey, id: child.id })).status).toBe(200);
  });

  test("the parent gives no more than it has", async () => {
    const child = await bench.subaccount(team, { CreditGranted: 10 });
    const answer = await put({ CreditGranted: 90.01 }, { id: child.id });
    properError(answer);
    expect(answer.body.error.code).toBe("insufficient_parent_balance");
    expect((await put({ CreditGranted: 90 }, { id: child.id })).status).toBe(200);
  });

  test("what a request in flight holds cannot be taken", async () => {
    const running = bench.chat(team.key, "[[head_ms=400 output=1]]", { max_tokens: 40_000_000 });
    await until("it is in flight", () => bench.provider.inFlight() === 1);
    expect((await put({ CreditGranted: -50 })).body.error.code).toBe("insufficient_balance");
    await running;
    expect((await put({ CreditGranted: -50 })).status).toBe(200);
  });

  test("is valid for Days, 180 when nothing is said", async () => {
    await put({ CreditGranted: 5, Days: 2 });
    await put({ CreditGranted: 6 });
    bench.moveClock(2 * 86_400_000 + 1_000);
    expect((await record()).Balance).toBe(106);
    bench.moveClock(177 * 86_400_000);
    expect((await record()).Balance).toBe(106);
    bench.moveClock(86_400_000);
    expect((await record()).Balance).toBe(0);
    await put({ CreditGranted: 1_000_000 }, { key: bench.rootKey, id: owner.id });
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
});

describe("all or nothing", () => {
  test.each([
    ["a Level that is none", { Level: 1.5 }, "invalid_parameter"],
    ["a rate below the parent's", { Rates: 0.5 }, "rate_below_parent"],
    ["a list that cannot be", { AllowIPs: "here" }, "invalid_parameter"],
    ["a path that cannot be", { Resources: "/x-users" }, "invalid_parameter"],
    ["an address that is none", { QRCode: "javascript:alert(1)" }, "invalid_parameter"],
    ["a Gear of nobody but Root", { Gear: 0 }, "invalid_parameter"],
    ["a field of another endpoint", { Name: "other name" }, "unknown_field"],
    ["a field that nobody sets", { Balance: 9 }, "unknown_field"],
    ["Days without credit", { Days: 9, CreditGranted: undefined }, "missing_parameter"],
    ["credit that is not there", { CreditGranted: 8_000_000 }, "insufficient_parent_balance"],
    ["credit that cannot be taken", { CreditGranted: -500 }, "insufficient_balance"],
  ])("%s: nothing changes", async (_, bad, code) => {
    const [before, balance] = [await record(), await bench.balance(owner.key)];
    const answer = await put({ Alias: "never", CreditGranted: 5, RPM: 5, ...bad });
    properError(answer);
    expect(answer.body.error.code).toBe(code);
    expect([await record(), await bench.balance(owner.key)]).toEqual([before, balance]);
  });

  test("nothing at all is missing_parameter", async () => {
    const answer = await put({});
    properError(answer);
    expect(answer.body.error.code).toBe("missing_parameter");
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
    expect([line.type, line.amount, line.balance_after]).toEqual(["adjust", 0, 100]);
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

  test.each([
    ["below Root", async () => ({ ParentID: 1 }), "invalid_parameter"],
    ["below itself", async () => ({ ParentID: team.id }), "invalid_parameter"],
    ["where it is", async () => ({ ParentID: owner.id }), "invalid_parameter"],
    ["by DNA alone", async () => ({ DNA: `.1.${owner.id}.` }), "invalid_parameter"],
    [
      "with a DNA that does not agree",
      async () => ({ ParentID: (await bench.subaccount(owner)).id, DNA: ".1.9." }),
      "invalid_parameter",
    ],
    [
      "and recharges at once",
      async () => ({ ParentID: (await bench.subaccount(owner)).id, CreditGranted: 5 }),
      "invalid_parameter",
    ],
    [
      "below who has dearer Rates",
      async () => ({ ParentID: (await bench.subaccount(owner, { Rates: 3 })).id }),
      "rate_below_parent",
    ],
    [
      "below who has fewer Resources",
      async () => ({ ParentID: (await bench.subaccount(owner, { Resources: "/v1/embeddings" })).id }),
      "resources_not_subset",
    ],
    [
      "below who may have no subaccounts",
      async () => {
        const { id } = await bench.subaccount(owner);
        await put({ UserLimit: 0 }, { id });
        return { ParentID: id };
      },
      "user_limit_reached",
    ],
  ])("does not move an account %s", async (_, change, code) => {
    const given = { Alias: "never", ...(await change()) };
    const before = await record();
    const answer = await asRoot(given);
    properError(answer);
    expect(answer.body.error.code).toBe(code);
    expect(await record()).toEqual(before);
  });

  test("does not move an account that has subaccounts, nor to nobody", async () => {
    const other = await bench.subaccount(owner);
    expect((await asRoot({ ParentID: 99_999_999 })).body.error.code).toBe("user_not_found");
    await bench.subaccount(team);
    const answer = await asRoot({ ParentID: other.id });
    properError(answer);
    expect(answer.body.error.code).toBe("has_subaccounts");
  });
});

describe("flags", () => {
  test("Status false closes everything, Suspended all but reading; true and false open again", async () => {
    const status = async () => [
      (await bench.chat(team.key, "[[output=1]]")).status,
      (await bench.call(team.key, "GET", "/dashboard/status")).status,
      (await bench.call(team.key, "GET", "/x-users")).status,
      (await put({ Alias: "x" }, { key: team.key })).status,
    ];
    expect(await status()).toEqual([200, 200, 200, 200]);
    await put({ Suspended: true });
    expect(await status()).toEqual([403, 200, 200, 403]);
    await put({ Status: false });
    expect(await status()).toEqual([403, 403, 403, 403]);
    await put({ Status: true, Suspended: false });
    expect(await status()).toEqual([200, 200, 200, 200]);
  });
});

describe("the operation log", () => {
  const newest = async (): Promise<Json> =>
    (await bench.call(owner.key, "GET", "/dashboard/logs?size=1")).body.logs[0];

  test("says what changed, before and after", async () => {
    await put({ Alias: "Blue", RPM: 5, CreditGranted: 1 });
    const line = await newest();
    expect(line).toMatchObject({ action: "update_user", target_id: team.id, status: "success" });
    expect(line.details).toContain(`Alias: "${team.name}" → "Blue"`);
    expect(line.details).toContain("RPM: 0 → 5");
    expect(line.details).toContain("CreditGranted: 1");
    expect(line.details).toContain("Balance: 100 → 101");
  });

  test("says what was refused, and why", async () => {
    await put({ CreditGranted: -500 });
    const line = await newest();
    expect(line).toMatchObject({ action: "update_user", target_id: team.id, status: "failed" });
    expect(line.details).toContain("insufficient_balance");
  });

  test("says who was made and deleted", async () => {
    const { id, name } = await bench.subaccount(owner);
    expect(await newest()).toMatchObject({ action: "add_user", target_id: id, status: "success" });
    await bench.call(owner.key, "DELETE", `/x-users/${name}`);
    const line = await newest();
    expect(line).toMatchObject({ action: "delete_user", target_id: id, status: "success" });
    expect(line.details).toContain("RefundedBalance: 9.8");
  });
});
