// GET /x-attention: each reason at its bound, one row per account and reason, their order and pages, and who may see them.

import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, type Json, until } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { makeKey } from "../api-keys/key-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const DAY_MS = 86_400_000;

/** A USD per thousand tokens of output. */
const DEAR = { ChatPricing: { "bench-model": { InputText: 0, OutputText: 1_000 } } };

const owner = prepared(() => bench.owner({ credit: 500, pricing: DEAR, config: { USER_MIN_BALANCE: 2 } }));
const other = prepared(() => bench.owner({ credit: 500 }));

const set = async (user: Account, fields: object): Promise<void> => {
  const { status, text } = await bench.call(bench.rootKey, "PUT", `/x-users/${user.id}`, fields);
  expect([status, text]).toEqual([200, expect.any(String)]);
};

const spend = async (user: Account, usd: number): Promise<void> => {
  const said = `[[prompt=0 output=${usd * 1_000}]]`;
  expect((await bench.chat(user.key, said, { max_tokens: usd * 1_000 })).status).toBe(200);
};

/** The whole list of a caller, from documents that are written now. */
async function listed(key: string, query = ""): Promise<Json> {
  await bench.call(bench.rootKey, "POST", "/x-conf", { SaveCache: true });
  const { status, body } = await bench.call(key, "GET", `/x-attention${query}`);
  expect(status).toBe(200);
  return body;
}

/** The reasons and figures of an account, once there are so many. */
async function reasonsOf(user: Account, count: number, key = owner.key): Promise<Json[]> {
  const own = async (): Promise<Json[]> =>
    (await listed(key)).accounts.filter(({ id }: Json) => id === user.id);
  await until("the documents are written", async () => (await own()).length === count);
  return (await own()).map(({ reason, figure }: Json) => [reason, figure]);
}

describe("a reason", () => {
  test("low_balance: at UserMinBalance, not above", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 3 });
    expect(await reasonsOf(user, 0)).toEqual([]);
    await spend(user, 1);
    expect(await reasonsOf(user, 1)).toEqual([["low_balance", 2]]);
    await spend(user, 0.5);
    await until("it is lower", async () => (await reasonsOf(user, 1))[0]?.[1] === 1.5);
    await set(user, { CreditGranted: 9 });
    expect(await reasonsOf(user, 0)).toEqual([]);
  });

  test("near_limit: 90 % of HardLimit or DailyLimit, the higher one, in one row", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 50, HardLimit: 10 });
    await spend(user, 8.999);
    expect(await reasonsOf(user, 0)).toEqual([]);
    await spend(user, 0.001);
    expect(await reasonsOf(user, 1)).toEqual([["near_limit", 90]]);
    await set(user, { DailyLimit: 9.5 });
    expect(await reasonsOf(user, 1)).toEqual([["near_limit", 94.74]]);
    await set(user, { HardLimit: 100, DailyLimit: 0 });
    expect(await reasonsOf(user, 0)).toEqual([]);
  });

  test("expiring: what expires within 7 days", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 10, Days: 90 });
    await set(user, { CreditGranted: 4, Days: 8 });
    await set(user, { CreditGranted: 3, Days: 5 });
    await set(user, { CreditGranted: 2, Days: 6 });
    expect(await reasonsOf(user, 1)).toEqual([["expiring", 5]]);
  });

  test("expiring: not for a secret that dies within 7 days, and with one by the expiry of the credit", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 10, Days: 90 });
    const later = await bench.subaccount(owner, { CreditGranted: 10, Days: 6 });
    const sooner = await bench.subaccount(owner, { CreditGranted: 10, Days: 5 });
    for (const { key } of [user, later]) {
      const { id } = await makeKey(bench, { key });
      const path = `/dashboard/keys/${id}/rotate`;
      expect((await bench.call(key, "POST", path, { OverlapSeconds: 3_600 })).status).toBe(200);
    }
    expect(await reasonsOf(sooner, 1)).toEqual([["expiring", 10]]);
    expect(await reasonsOf(later, 1)).toEqual([["expiring", 10]]);
    const { accounts, total } = await listed(owner.key);
    expect(accounts.length).toBe(total);
    const expiring = accounts.filter(({ reason }: Json) => reason === "expiring").map(({ id }: Json) => id);
    expect(expiring).not.toContain(user.id);
    expect(expiring.indexOf(sooner.id)).toBeLessThan(expiring.indexOf(later.id));
  });

  test("suspended and disabled, both of one account", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 5 });
    await set(user, { Suspended: true, Status: false });
    expect(await reasonsOf(user, 2)).toEqual([
      ["suspended", null],
      ["disabled", null],
    ]);
    await set(user, { Suspended: false });
    expect(await reasonsOf(user, 1)).toEqual([["disabled", null]]);
  });

  test("a deleted account needs nobody", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 2 });
    expect(await reasonsOf(user, 1)).toEqual([["low_balance", 2]]);
    await bench.call(owner.key, "DELETE", `/x-users/${user.id}`);
    expect(await reasonsOf(user, 0)).toEqual([]);
  });
});

describe("the list", () => {
  const manager = prepared(() => bench.subaccount(other, { CreditGranted: 100 }));
  const many: Account[] = [];
  beforeAll(async () => {
    for (let i = 0; i < 6; i++) many.push(await bench.subaccount(manager, { CreditGranted: 10 }));
    await set(many[3]!, { Status: false, Suspended: true });
    await set(many[1]!, { Suspended: true });
    await set(many[4]!, { CreditGranted: -10 });
    await set(many[2]!, { CreditGranted: -10, XCredit: 1 });
    await bench.chat(many[2]!.key, "[[output=100]]");
    await set(many[5]!, { CreditGranted: 1, Days: 2 });
    await set(many[0]!, { CreditGranted: 1, Days: 1 });
  });

  const wanted = () =>
    [
      ...(["1 suspended", "3 suspended", "3 disabled"] as const),
      ...(["2 low_balance", "4 low_balance", "0 expiring", "5 expiring"] as const),
    ].map((row) => {
      const [i, reason] = row.split(" ");
      return [many[Number(i)]!.id, reason];
    });

  const rowsOf = ({ accounts }: Json) => accounts.map(({ id, reason }: Json) => [id, reason]);

  test("has its reasons in order, and pages across them", async () => {
    await until("all are written", async () => (await listed(manager.key)).total === wanted().length);
    const whole = await listed(manager.key);
    expect(rowsOf(whole)).toEqual(wanted());
    expect(whole).toMatchObject({ total: 7, page: 1, size: 100, has_more: false });
    expect(whole.accounts[0]).toEqual({
      ...{ id: many[1]!.id, name: many[1]!.name, dna: `.1.${other.id}.${manager.id}.` },
      ...{ reason: "suspended", figure: null },
    });
    for (const size of [1, 2, 3, 4, 6]) {
      const pages: Json[] = [];
      for (let page = 1; ; page++) {
        const one = await listed(manager.key, `?page=${page}&size=${size}`);
        expect(one).toMatchObject({ total: 7, page, size });
        pages.push(...rowsOf(one));
        expect(one.has_more).toBe(pages.length < 7);
        if (!one.has_more) break;
      }
      expect(pages).toEqual(wanted());
    }
  });

  test("is of the caller's descendants: of a manager, an Owner, Root, each with the Owner's minimum", async () => {
    const ids = ({ accounts }: Json) => new Set(accounts.map(({ id }: Json) => id));
    expect(rowsOf(await listed(other.key))).toEqual(wanted());
    const poor = await bench.subaccount(owner, { CreditGranted: 2 });
    await until("it is written", async () => ids(await listed(owner.key)).has(poor.id));
    expect(ids(await listed(other.key)).has(poor.id)).toBe(false);
    const all = await listed(bench.rootKey, "?size=1000");
    for (const [id, reason] of [...wanted(), [poor.id, "low_balance"]]) {
      const found = all.accounts.filter((row: Json) => row.id === id && row.reason === reason);
      expect([id, reason, found.length]).toEqual([id, reason, 1]);
    }
  });

  test("idle: 30 days without a charge, the longest first, until it is used", async () => {
    const young = await bench.subaccount(manager, { CreditGranted: 5 });
    bench.moveClock(29 * DAY_MS);
    const later = await bench.subaccount(manager, { CreditGranted: 5 });
    const idle = async () => {
      const { accounts } = await listed(manager.key);
      return accounts
        .filter(({ reason }: Json) => reason === "idle")
        .map(({ id, figure }: Json) => [id, figure]);
    };
    expect(await idle()).toEqual([]);
    bench.moveClock(DAY_MS);
    expect(await idle()).toContainEqual([young.id, 30]);
    expect((await idle()).some(([id]: Json) => id === later.id)).toBe(false);
    await bench.chat(young.key, "[[output=1]]");
    await until("it is not idle", async () => !(await idle()).some(([id]: Json) => id === young.id));
  });
});

describe("is refused", () => {
  const leaf = prepared(() => bench.subaccount(other));

  test("to nobody, and to an account that may have no subaccounts", async () => {
    properError(await bench.call(null, "GET", "/x-attention"), 401);
    await set(leaf, { UserLimit: 0 });
    const answer = await bench.call(leaf.key, "GET", "/x-attention");
    properError(answer, 403);
    expect(answer.body.error.code).toBe("not_manager");
  });

  test.each(["?page=0", "?size=0", "?size=-1", "?page=x", "?reason=idle"])("%s", async (query) => {
    properError(await bench.call(owner.key, "GET", `/x-attention${query}`), 400);
  });
});
