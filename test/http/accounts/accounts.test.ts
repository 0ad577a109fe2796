// POST /x-users and GET /x-users/{identifier}: the answer's fields, who may, what is inherited, and that credit moves to the
// last digit.

import { describe, expect, test } from "bun:test";
import { fresh, nano, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 10_000 }));

const create = (key: string, more: object = {}) =>
  bench.call(key, "POST", "/x-users", {
    Name: `user-${fresh()}`,
    Email: "a@b.example",
    CreditGranted: 2,
    ...more,
  });
const read = async (key: string, identifier: string | number) =>
  bench.call(key, "GET", `/x-users/${encodeURIComponent(identifier)}`);

describe("the answer", () => {
  test("has the fields of the specification, and no others", async () => {
    const given = { CreditGranted: 12.5, HardLimit: 3, SoftLimit: 2 };
    const { body } = await create(owner.key, { Name: "Full Answer", ...given });
    expect(body).toEqual({
      Action: "add",
      User: {
        ID: expect.any(Number),
        SecretKey: expect.stringMatching(/^sk-[0-9A-Za-z]{48}$/),
        Updates: {
          Name: "Full Answer",
          Email: "a@b.example",
          CreditGranted: 12.5,
          Balance: 12.5,
          HardLimit: 3,
          SoftLimit: 2,
          Status: true,
          Level: 0,
          DNA: `.1.${owner.id}.`,
        },
      },
    });
    expect((await bench.call(body.User.SecretKey, "GET", "/dashboard/status")).status).toBe(200);
  });

  test("of GET is an array of the whole record", async () => {
    const given = {
      Alias: "Ali",
      BillingEmail: "pay@b.example",
      Rates: 1.5,
      HardLimit: 9.000000001,
      SoftLimit: 8,
      AutoQuota: 7,
      RPM: 1,
      RPH: 2,
      RPD: 3,
      TPM: 4,
      TPH: 5,
      TPD: 6,
      AllowIPs: "127.0.0.1, 10.0.0.0/8",
      AllowModels: "gpt-*,bench-model",
      Resources: "/v1/chat/completions /v1/audio/*",
      ModelLimits: { "gpt-4o": { rpm: 5, tpd: 0 } },
    };
    const { body } = await create(owner.key, { Name: "Whole Record", ...given });
    const answer = await read(owner.key, body.User.ID);
    expect(answer.headers.get("x-total-count")).toBe("1");
    expect(answer.body).toEqual([
      {
        ...given,
        ID: body.User.ID,
        Name: "Whole Record",
        Email: "a@b.example",
        Balance: 2,
        AllowIPs: "127.0.0.1 10.0.0.0/8",
        AllowModels: "gpt-* bench-model",
        AllowLevels: "",
        DailyLimit: 0,
        UserLimit: null,
        ModelMapper: "",
        LevelMapper: "",
        QRCode: "",
        Status: true,
        Suspended: false,
        Level: 0,
        Role: 0,
        Gear: 1,
        Factor: 1,
        Tier: 0,
        DNA: `.1.${owner.id}.`,
        ParentID: owner.id,
        CreditUsed: 0,
        ChargeAmount: 2,
        XCredit: 0,
        isOwner: false,
        CreatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        UpdatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    ]);
  });

  test.each([
    "Status",
    "Suspended",
    "DailyLimit",
    "UserLimit",
    "AllowLevels",
    "ModelMapper",
    "QRCode",
    "Level",
    "Role",
    "Gear",
    "Factor",
    "Tier",
    "LevelMapper",
    "DNA",
    "ParentID",
    "CreditUsed",
    "ChargeAmount",
    "XCredit",
    "ID",
    "Balance",
  ])("%s is no field of a create: 400 unknown_field", async (field) => {
    const answer = await create(owner.key, { [field]: 1 });
    properError(answer);
    expect(answer.body.error).toMatchObject({
      code: "unknown_field",
      message: expect.stringContaining(field),
    });
  });
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

  test("least is 2", async () => {
    for (const amount of [1.999999999, 1, 0, -5])
      properError(await create(owner.key, { CreditGranted: amount }));
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
