// The specification's rows of PUT /x-users/{identifier}: one test for each row, through HTTP. Who may set which field is in
// permissions.test.ts; recharges and moves at length are in users-credit.test.ts.

import { beforeEach, describe, expect, test } from "bun:test";
import { type Account, type Json, MODEL, nano } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";

const DAY_MS = 86_400_000;

let user: Account;
const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 100_000 }));
beforeEach(async () => {
  user = await bench.subaccount(owner, { CreditGranted: 10 });
});

const put = (change: object, key = owner.key, id: number | string = user.id) =>
  bench.call(key, "PUT", `/x-users/${encodeURIComponent(id)}`, change);
const record = async (id = user.id): Promise<Json> =>
  (await bench.call(bench.rootKey, "GET", `/x-dna/${id}`)).body[0];
const code = (answer: { readonly status: number; readonly body: Json }) => [
  answer.status,
  answer.body.error?.code,
];

describe("PUT /x-users identifier", () => {
  test.each([
    ["id", () => user.id],
    ["name", () => user.name],
    ["e-mail", () => `${user.name}@bench.example`],
  ])("%s", async (_, identifier) => {
    const answer = await put({ Alias: "found" }, owner.key, identifier());
    expect(answer.body).toEqual({
      Action: "update",
      User: { ID: user.id, Name: user.name, Updates: { Alias: "found" } },
    });
  });
});

/** A field, what is given, and what the record has then. */
const FIELDS: readonly (readonly [string, unknown, unknown])[] = [
  ["Status", false, false],
  ["Suspended", true, true],
  ["Rates", 1.5, 1.5],
  ["HardLimit", 0.000000001, 0.000000001],
  ["SoftLimit", 12.5, 12.5],
  ["AutoQuota", 4, 4],
  ["DailyLimit", 3.25, 3.25],
  ["UserLimit", 0, 0],
  ["RPM", 1, 1],
  ["RPH", 2, 2],
  ["RPD", 3, 3],
  ["TPM", 4, 4],
  ["TPH", 5, 5],
  ["TPD", 6, 6],
  ["AllowModels", "gpt-4o", "gpt-4o"],
  ["AllowIPs", "10.0.0.0/8,::1", "10.0.0.0/8 ::1"],
  ["AllowLevels", "1 2", "1 2"],
  ["Resources", "/v1/messages", "/v1/messages"],
  ["ModelLimits", { m: { rph: 1, rpd: 2, tph: 3, tpd: 4 } }, { m: { rph: 1, rpd: 2, tph: 3, tpd: 4 } }],
  ["QRCode", "https://img.example/qr.png", "https://img.example/qr.png"],
  ["Alias", "Blue", "Blue"],
  ["BillingEmail", "pay@spec.example", "pay@spec.example"],
  ["Level", 3, 3],
  ["Role", 4, 4],
  ["Factor", 1.25, 1.25],
  ["LevelMapper", "gpt-*=2", "gpt-*=2"],
  ["Gear", 5, 5],
  ["Tier", 6, 6],
];
test.each(FIELDS)("PUT /x-users %s", async (field, given, shown) => {
  const answer = await put({ [field]: given });
  expect([answer.status, answer.body.User.Updates]).toEqual([200, { [field]: shown }]);
  expect((await record())[field]).toEqual(shown);
});

/** Root's own. */
test.each([
  ["CreditUsed", 5.5],
  ["ChargeAmount", 6.5],
  ["XCredit", 7.5],
])("PUT /x-users %s, Root only: a line adjust of amount 0", async (field, value) => {
  expect(code(await put({ [field]: value }))).toEqual([403, "field_not_settable"]);
  const before = (await record())[field];
  expect((await put({ [field]: value }, bench.rootKey)).body.User.Updates).toEqual({ [field]: value });
  expect(await record()).toMatchObject({ [field]: value, Balance: 10 });
  const line = (await bench.ledger(user.key)).at(-1);
  expect(line).toMatchObject({ type: "adjust", amount: 0, balance_after: 10, by: 1 });
  expect([line.before, line.after]).toEqual([{ [field]: before }, { [field]: value }]);
});

test("PUT /x-users CreditGranted: recharge; a negative value deducts", async () => {
  const parent = nano(await bench.balance(owner.key));
  expect((await put({ CreditGranted: 5.000000001 })).body.User.Updates.Balance).toBe(15.000000001);
  expect((await put({ CreditGranted: -4 })).body.User.Updates.Balance).toBe(11.000000001);
  expect(nano(await bench.balance(owner.key))).toBe(parent - nano("1.000000001"));
  expect((await bench.ledger(user.key)).map(({ type }) => type)).toEqual([
    "transfer_in",
    "transfer_in",
    "refund",
  ]);
  expect((await bench.ledger(owner.key)).slice(-2).map(({ type }) => type)).toEqual([
    "transfer_out",
    "refund",
  ]);
});

test("PUT /x-users CreditGranted beyond what an account can hold: 400 invalid_parameter, and nothing moves", async () => {
  expect((await put({ CreditGranted: 9_000_000 }, bench.rootKey)).status).toBe(200);
  const change = { CreditGranted: 9_000_000, Alias: "rich" };
  expect(code(await put(change, bench.rootKey))).toEqual([400, "invalid_parameter"]);
  expect(await record()).toMatchObject({ Balance: 9_000_010, Alias: user.name });
});

test("PUT /x-users CreditGranted with Days: the recharged credit expires after so many days", async () => {
  await put({ CreditGranted: 5, Days: 7 });
  const { credits } = (await bench.call(user.key, "GET", "/dashboard/info")).body.balance;
  expect(credits[0].amount).toBe(5);
  expect((Date.parse(credits[0].expires_at) - bench.now()) / DAY_MS).toBeWithin(6.99, 7.0001);
});

test("PUT /x-users Days without CreditGranted: 400 missing_parameter", async () => {
  expect(code(await put({ Days: 7 }))).toEqual([400, "missing_parameter"]);
});

test("PUT /x-users CreditGranted negative goes back as an entry valid 180 days, whatever Days says", async () => {
  const giver = await bench.subaccount(owner, { CreditGranted: 20, Days: 5 });
  const child = await bench.subaccount(giver, { CreditGranted: 10 });
  await put({ CreditGranted: -3, Days: 2 }, owner.key, child.id);
  const { credits } = (await bench.call(giver.key, "GET", "/dashboard/info")).body.balance;
  const last = credits.at(-1);
  expect(last.amount).toBe(3);
  expect((Date.parse(last.expires_at) - bench.now()) / DAY_MS).toBeWithin(179.9, 180.0001);
});

test("PUT /x-users AllowModels: a plain list adds, -pattern removes, * resets", async () => {
  const after = async (AllowModels: string) => (await put({ AllowModels })).body.User?.Updates.AllowModels;
  expect(await after("gpt-*,claude-*")).toBe("gpt-* claude-*");
  expect(await after("llama*")).toBe("gpt-* claude-* llama*");
  expect(await after("-claude-*")).toBe("gpt-* llama*");
  expect(await after("-gpt-* mistral*")).toBe("llama* mistral*");
  expect(await after("*")).toBe("");
});

test.each(["-gpt-*", "gpt-* -gpt-*"])(
  "PUT /x-users AllowModels %j: only * opens the list: 400",
  async (list) => {
    expect(code(await put({ AllowModels: list }))).toEqual([400, "invalid_parameter"]);
    expect((await record()).AllowModels).toBe("");
  },
);

test("PUT /x-users ModelMapper: only when an account updates itself", async () => {
  for (const key of [owner.key, bench.rootKey]) {
    expect(code(await put({ ModelMapper: `mine=${MODEL}` }, key))).toEqual([403, "field_not_settable"]);
  }
  expect((await put({ ModelMapper: `mine=${MODEL}` }, user.key)).status).toBe(200);
  expect((await bench.chat(user.key, "hi", { model: "mine", max_tokens: 5 })).status).toBe(200);
});

test("PUT /x-users on oneself: ModelMapper, Alias, BillingEmail, SoftLimit, QRCode", async () => {
  const own = { Alias: "I", BillingEmail: "i@spec.example", SoftLimit: 1, QRCode: "", ModelMapper: "a=b" };
  expect((await put(own, user.key)).body.User.Updates).toEqual(own);
  expect(code(await put({ HardLimit: 1 }, user.key))).toEqual([403, "field_not_settable"]);
});

test("PUT /x-users all or nothing: one bad field, and nothing changes", async () => {
  const before = await record();
  const good = { CreditGranted: 5, Alias: "new", RPM: 5, AllowModels: "gpt-*" };
  const bad: readonly object[] = [
    { HardLimit: -1 },
    { Rates: 0.5 },
    { Resources: "not a path" },
    { AllowIPs: "300.1.1.1" },
    { AllowLevels: "one" },
    { ModelLimits: { m: { rpm: -1 } } },
    { LevelMapper: "gpt" },
    { QRCode: "ftp://x" },
    { XCredit: 1 },
    { Unknown: 1 },
    { CreditGranted: 1_000_000 },
  ];
  for (const one of bad) {
    const answer = await put({ ...good, ...one });
    expect([400, 403]).toContain(answer.status);
    expect(await record()).toEqual(before);
  }
  expect(await bench.ledger(user.key)).toHaveLength(1);
});

test("PUT /x-users ModelLimits: figures merge, -model takes one away, * clears", async () => {
  const after = async (ModelLimits: unknown) => (await put({ ModelLimits })).body.User.Updates.ModelLimits;
  expect(await after({ a: { rpm: 1 }, b: { tpm: 2 } })).toEqual({ a: { rpm: 1 }, b: { tpm: 2 } });
  expect(await after({ a: { tpm: 3 } })).toEqual({ a: { rpm: 1, tpm: 3 }, b: { tpm: 2 } });
  expect(await after("-a")).toEqual({ b: { tpm: 2 } });
  expect(await after("*")).toEqual({});
});

describe("PUT /x-users ParentID, DNA: Root moves an account", () => {
  test("DNA follows, and a DNA given beside must agree", async () => {
    const parent = await bench.subaccount(owner, { CreditGranted: 5 });
    const DNA = `.1.${owner.id}.${parent.id}.`;
    expect(code(await put({ ParentID: parent.id, DNA: ".1." }, bench.rootKey))).toEqual([
      400,
      "invalid_parameter",
    ]);
    expect((await put({ ParentID: parent.id, DNA }, bench.rootKey)).body.User.Updates).toEqual({
      ParentID: parent.id,
      DNA,
    });
    expect(await record()).toMatchObject({ ParentID: parent.id, DNA, Balance: 10 });
  });

  test.each([
    ["ParentID 1", () => ({ ParentID: 1 }), 400, "invalid_parameter"],
    ["DNA without ParentID", () => ({ DNA: ".1." }), 400, "invalid_parameter"],
    ["nobody", () => ({ ParentID: 99_999 }), 404, "user_not_found"],
    ["itself", () => ({ ParentID: user.id }), 400, "invalid_parameter"],
    ["with CreditGranted", () => ({ ParentID: owner.id, CreditGranted: 1 }), 400, "invalid_parameter"],
  ])("%s is refused", async (_, change, status, why) => {
    expect(code(await put(change(), bench.rootKey))).toEqual([status, why]);
  });

  test("an account with subaccounts: 400 has_subaccounts; a parent that is full: 400 user_limit_reached", async () => {
    const full = await bench.subaccount(owner, { CreditGranted: 5 });
    await put({ UserLimit: 0 }, owner.key, full.id);
    expect(code(await put({ ParentID: full.id, RPM: 7 }, bench.rootKey))).toEqual([
      400,
      "user_limit_reached",
    ]);
    expect(await record()).toMatchObject({ ParentID: owner.id, RPM: 0 });
    await bench.subaccount(user, { CreditGranted: 2 });
    await put({ UserLimit: null }, owner.key, full.id);
    expect(code(await put({ ParentID: full.id }, bench.rootKey))).toEqual([400, "has_subaccounts"]);
  });

  test("Rates and Resources that come with it are those that the new parent judges", async () => {
    const strict = { CreditGranted: 5, Rates: 2, Resources: "/v1/messages" };
    const parent = await bench.subaccount(owner, strict);
    await put({ Resources: "/v1/chat/completions" });
    expect(code(await put({ ParentID: parent.id }, bench.rootKey))).toEqual([400, "rate_below_parent"]);
    expect(code(await put({ ParentID: parent.id, Rates: 3 }, bench.rootKey))).toEqual([
      400,
      "resources_not_subset",
    ]);
    const fit = { ParentID: parent.id, Rates: 3, Resources: "/v1/messages" };
    expect(code(await put(fit, bench.rootKey))).toEqual([200, undefined]);
    expect(await record()).toMatchObject(fit);
  });
});

test("PUT /x-users of many at once on one account: no change is lost", async () => {
  const names = ["RPM", "RPH", "RPD", "TPM", "TPH", "TPD", "HardLimit", "SoftLimit", "DailyLimit"];
  const changes = [
    ...names.map((name) => ({ [name]: 9 })),
    ...Array.from({ length: 12 }, (_, i) => ({ AllowModels: `model-${i}` })),
    ...Array.from({ length: 12 }, () => ({ CreditGranted: 0.5 })),
  ];
  const answers = await Promise.all(changes.map((change) => put(change)));
  expect(answers.map(({ status }) => status)).toEqual(changes.map(() => 200));
  const found = await record();
  expect(names.map((name) => found[name])).toEqual(names.map(() => 9));
  expect([found.AllowModels.split(" ").length, found.Balance]).toEqual([12, 16]);
});
