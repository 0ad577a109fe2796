// POST /x-users: its fields and its answer, who is an Owner, how many accounts one may have, and that credit moves to the last
// digit. What is inherited, and what holds for everybody below, is in tree.test.ts.

import { describe, expect, test } from "bun:test";
import { type Json, nano, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 100_000 }));

const create = (key: string, more: object = {}) => bench.call(key, "POST", "/x-users", userBody(more));
const read = (key: string, id: number) => bench.call(key, "GET", `/x-users/${id}`);
const record = async (id: number): Promise<Json> =>
  (await bench.call(bench.rootKey, "GET", `/x-dna/${id}`)).body[0];
/** The record of an account that was made with this. */
const made = async (more: object = {}): Promise<Json> => record((await create(owner.key, more)).body.User.ID);

test("the answer: Action, User {ID, SecretKey, Updates {the nine fields}}", async () => {
  const given = {
    ...{ Name: "Full Answer", Email: "made@spec.example", CreditGranted: 12.5, HardLimit: 7 },
    ...{ SoftLimit: 5.5 },
  };
  const { status, body } = await create(owner.key, given);
  const Updates = { ...given, Balance: 12.5, Status: true, Level: 0, DNA: `.1.${owner.id}.` };
  const SecretKey = expect.stringMatching(/^sk-[0-9A-Za-z]{48}$/);
  expect([status, body]).toEqual([
    200,
    { Action: "add", User: { ID: expect.any(Number), SecretKey, Updates } },
  ]);
  const { User } = body;
  expect((await bench.call(User.SecretKey, "GET", "/dashboard/status")).body.id).toBe(User.ID);
});

test("GET /x-users/{identifier}: an array of the whole record, with every field as it was given", async () => {
  const given = {
    ...{ Alias: "Ali", BillingEmail: "pay@b.example", Rates: 1.5, HardLimit: 9.000000001, SoftLimit: 8 },
    ...{ AutoQuota: 7, RPM: 1, RPH: 2, RPD: 3, TPM: 4, TPH: 5, TPD: 6, AllowIPs: "127.0.0.1, 10.0.0.0/8" },
    ...{ AllowModels: "gpt-*,bench-model", Resources: "/v1/chat/completions /v1/audio/*" },
    ModelLimits: { "gpt-4o": { rpm: 5, tpd: 0 } },
  };
  const { body } = await create(owner.key, { Name: "Whole Record", ...given });
  const answer = await read(owner.key, body.User.ID);
  expect(answer.headers.get("x-total-count")).toBe("1");
  expect(answer.body).toEqual([
    {
      ...given,
      ...{ ID: body.User.ID, Name: "Whole Record", Email: "a@b.example", Balance: 2 },
      ...{ AllowIPs: "127.0.0.1 10.0.0.0/8", AllowModels: "gpt-* bench-model", AllowLevels: "" },
      ...{ DailyLimit: 0, UserLimit: null, ModelMapper: "", LevelMapper: "", QRCode: "", Status: true },
      ...{ Suspended: false, Level: 0, Role: 0, Gear: 1, Factor: 1, Tier: 0, DNA: `.1.${owner.id}.` },
      ...{ ParentID: owner.id, CreditUsed: 0, ChargeAmount: 2, XCredit: 0, isOwner: false },
      CreatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      UpdatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    },
  ]);
});

test.each(["Name", "Email", "CreditGranted"])("%s is required", async (field) => {
  properError(await create(owner.key, { [field]: undefined }), 400, "missing_parameter");
});

test.each(["HardLimit", "SoftLimit", "AutoQuota"])(
  "%s of less than a nano-dollar is refused: as 0 it would be none",
  async (field) => {
    properError(await create(owner.key, { [field]: 1e-10 }), 400, "invalid_parameter");
    expect((await create(owner.key, { [field]: 1e-9 })).status).toBe(200);
  },
);

test("Days: the credit's validity", async () => {
  const { SecretKey } = (await create(owner.key, { Days: 3 })).body.User;
  const { credits } = (await bench.call(SecretKey, "GET", "/dashboard/info")).body.balance;
  expect((Date.parse(credits[0].expires_at) - bench.now()) / 86_400_000).toBeWithin(2.99, 3.0001);
});

/** Fields that only a change takes, and what the service alone says. */
test.each([
  ...[
    "DailyLimit",
    "UserLimit",
    "AllowLevels",
    "ModelMapper",
    "QRCode",
    "Status",
    "Suspended",
    "Level",
    "Role",
  ],
  ...["Gear", "Tier", "Factor", "LevelMapper", "DNA", "ParentID", "CreditUsed", "ChargeAmount", "XCredit"],
  ...["ID", "Balance", "CreatedAt"],
])("%s is no field of a new account: 400 unknown_field", async (field) => {
  const answer = await create(owner.key, { [field]: 1 });
  properError(answer, 400, "unknown_field");
  expect(answer.body.error.message).toContain(field);
});

test("defaults: Alias is Name, BillingEmail is Email; limits are 0, which is none, and UserLimit null", async () => {
  const found = await made({ Email: "made@spec.example" });
  expect(found).toMatchObject({ Alias: found.Name, BillingEmail: "made@spec.example", UserLimit: null });
  expect(found).toMatchObject({ RPM: 0, RPH: 0, RPD: 0, TPM: 0, TPH: 0, TPD: 0 });
  expect(found).toMatchObject({ HardLimit: 0, SoftLimit: 0, DailyLimit: 0, AutoQuota: 0 });
});

test("Email cannot be empty, and need not be unique", async () => {
  properError(await create(owner.key, { Email: "" }), 400, "invalid_parameter");
  for (let i = 0; i < 2; i++)
    expect((await create(owner.key, { Email: "twice@b.example" })).status).toBe(200);
});

test("Level, Role, Gear, Tier, Factor are inherited from the parent", async () => {
  const parent = await bench.subaccount(owner, { CreditGranted: 10 });
  const set = { Level: 4, Role: 5, Gear: 6, Tier: 7, Factor: 1.5 };
  await bench.call(owner.key, "PUT", `/x-users/${parent.id}`, set);
  const child = await bench.subaccount(parent, { CreditGranted: 2 });
  expect(await record(child.id)).toMatchObject(set);
});

test("an Owner starts with Level 0, Role 0, Tier 0, Gear 1, Factor 1, Rates 1", async () => {
  const expected = { Level: 0, Role: 0, Tier: 0, Gear: 1, Factor: 1, Rates: 1, isOwner: true };
  expect(await record(owner.id)).toMatchObject({ ...expected, DNA: ".1.", ParentID: 1 });
});

describe("isOwner", () => {
  const said = (key: string, isOwner: unknown) => create(key, { isOwner, CreditGranted: 50 });

  test("is true of whom Root creates, said or not", async () => {
    for (const given of [true, undefined]) {
      const { body } = await said(bench.rootKey, given);
      expect((await read(bench.rootKey, body.User.ID)).body[0].isOwner).toBe(true);
    }
  });

  test.each([
    ["Root says false", () => bench.rootKey, false],
    ["an Owner says true", () => owner.key, true],
    ["an Owner says false", () => owner.key, false],
  ])("%s: 403 field_not_settable, and nobody is made", async (_, key, given) => {
    const before = await bench.balance(owner.key);
    properError(await said(key(), given), 403, "field_not_settable");
    expect(await bench.balance(owner.key)).toBe(before);
  });
});

describe("UserLimit", () => {
  const limited = async (UserLimit: number | null) => {
    const parent = await bench.subaccount(owner, { CreditGranted: 100 });
    await bench.call(owner.key, "PUT", `/x-users/${parent.id}`, { UserLimit });
    return parent;
  };

  test("0 allows none: 400 user_limit_reached", async () => {
    properError(await create((await limited(0)).key), 400, "user_limit_reached");
  });

  test("2 allows two, and a third when one is gone; grandchildren do not count", async () => {
    const parent = await limited(2);
    const first = await bench.subaccount(parent, { CreditGranted: 10 });
    await bench.subaccount(first);
    await bench.subaccount(parent);
    expect((await create(parent.key)).body.error.code).toBe("user_limit_reached");
    expect((await bench.call(parent.key, "DELETE", `/x-users/${first.id}?recursive=true`)).status).toBe(200);
    expect((await create(parent.key)).status).toBe(200);
    expect((await create(parent.key)).body.error.code).toBe("user_limit_reached");
  });

  test("of many at once exactly as many are made as it allows", async () => {
    const parent = await limited(5);
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(parent.key)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(5);
  });

  test("null allows any number again", async () => {
    const parent = await limited(0);
    await bench.call(owner.key, "PUT", `/x-users/${parent.id}`, { UserLimit: null });
    expect((await create(parent.key)).status).toBe(200);
  });
});

describe("credit moves", () => {
  test.each([2, 2.000000001, 4.35, 1_234.567890123, 3.1, 2.0000000004])(
    "%d dollars leave the parent and reach the child, exactly",
    async (amount) => {
      const before = nano(await bench.balance(owner.key));
      const { body } = await create(owner.key, { CreditGranted: amount });
      const moved = Math.round(amount * 1e9);
      expect(nano(await bench.balance(body.User.SecretKey))).toBe(moved);
      expect(before - nano(await bench.balance(owner.key))).toBe(moved);
      const [received] = await bench.ledger(body.User.SecretKey);
      const sent = (await bench.ledger(owner.key)).at(-1);
      expect([received.type, nano(received.amount)]).toEqual(["transfer_in", moved]);
      expect([sent.type, nano(sent.amount)]).toEqual(["transfer_out", -moved]);
    },
  );

  test("Root mints: its balance is 0 before and after, and the Owner's line is a grant", async () => {
    const { body } = await create(bench.rootKey, { CreditGranted: 77 });
    expect(await bench.balance(bench.rootKey)).toBe(0);
    expect(await bench.ledger(body.User.SecretKey)).toMatchObject([
      { type: "grant", amount: 77, balance_after: 77 },
    ]);
  });

  test("Root mints without end: the sum of all grants may pass what one account may have", async () => {
    for (let i = 0; i < 3; i++) {
      expect((await create(bench.rootKey, { CreditGranted: 6_000_000 })).status).toBe(200);
    }
    expect((await bench.call(bench.rootKey, "GET", "/dashboard/status")).status).toBe(200);
  });

  test("a parent may give all it has, and not a nano-dollar more", async () => {
    const parent = await bench.subaccount(owner, { CreditGranted: 10 });
    properError(
      await create(parent.key, { CreditGranted: 10.000000001 }),
      400,
      "insufficient_parent_balance",
    );
    expect((await create(parent.key, { CreditGranted: 10 })).status).toBe(200);
    expect(await bench.balance(parent.key)).toBe(0);
  });

  test("what is held by a request in flight cannot be given", async () => {
    const parent = await bench.subaccount(owner, { CreditGranted: 10 });
    const running = bench.chat(parent.key, "[[head_ms=400 output=1]]", { max_tokens: 1_000_000 });
    await until("it is in flight", () => bench.provider.inFlight() === 1);
    expect((await create(parent.key, { CreditGranted: 9 })).body.error.code).toBe(
      "insufficient_parent_balance",
    );
    await running;
    expect((await create(parent.key, { CreditGranted: 9 })).status).toBe(200);
  });

  test("of many at once exactly as many are made as can be paid", async () => {
    const parent = await bench.subaccount(owner, { CreditGranted: 21 });
    const answers = await Promise.all(Array.from({ length: 40 }, () => create(parent.key)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(10);
    for (const one of answers.filter((answer) => answer.status !== 200)) {
      expect(one.body.error.code).toBe("insufficient_parent_balance");
    }
    expect(await bench.balance(parent.key)).toBe(1);
  });
});
