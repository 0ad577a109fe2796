// The specification's rows of GET /x-users and /x-dna: one short test for each row, through HTTP. Every identifier, filter and
// page at length is in users-query.test.ts.

import { beforeAll, describe, expect, test } from "bun:test";
import type { Account, Json } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";

let grandchild: Account;
const bench = useBench();
const owner = prepared(() => bench.owner());
const child = prepared(() => bench.subaccount(owner, { CreditGranted: 100 }));
beforeAll(async () => {
  const set = { Level: 2, Gear: 3, Role: 4, Tier: 5, Factor: 1.5 };
  await bench.call(owner.key, "PUT", `/x-users/${child.id}`, set);
  grandchild = await bench.subaccount(child, { CreditGranted: 2 });
});

const get = (path: string, key = owner.key) => bench.call(key, "GET", path);
const ids = async (path: string, key = owner.key): Promise<number[]> =>
  (await get(path, key)).body.map(({ ID }: Json) => ID);

test("GET /x-users: direct children of the caller only", async () => {
  expect(await ids("/x-users")).toEqual([child.id]);
});

test("GET /x-dna: all descendants", async () => {
  expect(await ids("/x-dna")).toEqual([child.id, grandchild.id]);
});

describe("{identifier} may be", () => {
  test.each([
    ["numeric id", () => String(child.id)],
    ["name", () => child.name],
    ["e-mail", () => `${child.name}@bench.example`],
    ["L<n>: Level", () => "L2"],
    ["G<n>: Gear", () => "G3"],
    ["R<n>: Role", () => "R4"],
    ["T<n>: Tier", () => "T5"],
    ["F<n>: Factor, may be fractional", () => "F1.5"],
    [".<dna>: a DNA path", () => `.1.${owner.id}.`],
  ])("%s", async (_, identifier) => {
    const path = encodeURIComponent(identifier());
    expect(await ids(`/x-users/${path}`)).toEqual([child.id]);
    expect((await ids(`/x-dna/${path}`))[0]).toBe(child.id);
  });
});

describe("query parameter", () => {
  test.each([
    ["id", () => `id=${child.id}`],
    ["name: partial match", () => `name=${child.name.slice(1)}`],
    ["email", () => `email=${child.name}@bench.example`],
    ["level", () => "level=2&id=G3"],
    ["dna", () => `dna=.1.${owner.id}`],
    ["L{n} as a value", () => "level=L2"],
    ["G{n} as a value", () => "id=G3"],
    ["R{n} as a value", () => "id=R4"],
    ["T{n} as a value", () => "id=T5"],
    ["F{n} as a value", () => "id=F1.5"],
  ])("%s", async (_, query) => {
    expect(await ids(`/x-users?${query()}`)).toEqual([child.id]);
  });

  test("page, default 1, and size, default 100, maximum 1000, with the four headers", async () => {
    const headers = async (query: string) => {
      const answer = await get(`/x-dna${query}`);
      const names = ["X-Total-Count", "X-Page", "X-Per-Page", "X-Total-Pages"];
      return names.map((name) => answer.headers.get(name));
    };
    expect(await headers("")).toEqual(["2", "1", "100", "1"]);
    expect(await headers("?page=2&size=1")).toEqual(["2", "2", "1", "2"]);
    expect(await headers("?size=1001")).toEqual(["2", "1", "1000", "1"]);
    expect(await headers("?page=0")).toEqual(["2", null, null, null]);
    expect(await headers("?size=0")).toEqual(["2", null, null, null]);
    expect(await ids("/x-dna?page=2&size=1")).toEqual([grandchild.id]);
    expect(await ids("/x-dna?page=0&size=1")).toEqual([child.id, grandchild.id]);
  });

  test.each(["page=-1", "size=1.5", "page=one", "other=1"])("?%s: 400", async (query) => {
    for (const path of ["/x-users", "/x-dna"]) expect((await get(`${path}?${query}`)).status).toBe(400);
  });
});

/** The fields of the account's table but those that only go in, and isOwner. */
const RECORD =
  `ID Name Email Alias BillingEmail Balance Rates HardLimit SoftLimit AutoQuota DailyLimit UserLimit RPM RPH
  RPD TPM TPH TPD AllowIPs AllowModels AllowLevels Resources ModelLimits ModelMapper QRCode Status Suspended Level Role Gear
  Factor Tier LevelMapper DNA ParentID CreditUsed ChargeAmount XCredit isOwner CreatedAt UpdatedAt`.split(
    /\s+/,
  );

test("an account record has every field, each of its type", async () => {
  const [record] = (await get(`/x-users/${child.id}`)).body;
  expect(Object.keys(record).sort()).toEqual([...RECORD].sort());
  expect(record).toMatchObject({
    ID: child.id,
    Balance: expect.any(Number),
    AllowIPs: "",
    AllowModels: "",
    AllowLevels: "",
    Resources: "",
    ModelLimits: {},
    ModelMapper: "",
    LevelMapper: "",
    Status: true,
    Suspended: false,
    isOwner: false,
    ParentID: owner.id,
    ChargeAmount: 100,
    CreatedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
});

test("UpdatedAt follows a change, CreatedAt stays", async () => {
  const before = (await get(`/x-users/${child.id}`)).body[0];
  bench.moveClock(1_000);
  await bench.call(owner.key, "PUT", `/x-users/${child.id}`, { Alias: "later" });
  const after = (await get(`/x-users/${child.id}`)).body[0];
  expect(after.CreatedAt).toBe(before.CreatedAt);
  expect(Date.parse(after.UpdatedAt)).toBeGreaterThan(Date.parse(before.UpdatedAt));
});

test("who is out of reach is as if it did not exist: 404 user_not_found; a filter leaves []", async () => {
  const stranger = await bench.owner();
  for (const id of [child.id, child.name, `${child.name}@bench.example`, stranger.id, 1]) {
    const answer = await get(`/x-dna/${encodeURIComponent(id)}`, stranger.key);
    expect([answer.status, answer.body.error?.code]).toEqual([404, "user_not_found"]);
  }
  expect(await ids("/x-dna/L2", stranger.key)).toEqual([]);
  expect(await ids(`/x-dna?dna=.1.${owner.id}.`, stranger.key)).toEqual([]);
});

test("UserLimit 0: /x-users and /x-dna are []", async () => {
  await bench.call(owner.key, "PUT", `/x-users/${child.id}`, { UserLimit: 0 });
  expect([await ids("/x-users", child.key), await ids("/x-dna", child.key)]).toEqual([[], []]);
  await bench.call(owner.key, "PUT", `/x-users/${child.id}`, { UserLimit: null });
  expect(await ids("/x-users", child.key)).toEqual([grandchild.id]);
});
