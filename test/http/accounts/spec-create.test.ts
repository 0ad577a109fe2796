// The specification's rows of POST /x-users, and of the account fields that it takes: one test for each row, through HTTP.

import { describe, expect, test } from "bun:test";
import { fresh, type Json } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 100_000 }));

const body = (more: object = {}): Json => ({
  Name: `made-${fresh()}`,
  Email: "made@spec.example",
  CreditGranted: 2,
  ...more,
});
const post = (more: object = {}, key = owner.key) => bench.call(key, "POST", "/x-users", body(more));
const record = async (id: number): Promise<Json> =>
  (await bench.call(bench.rootKey, "GET", `/x-dna/${id}`)).body[0];
/** The record of an account that was made with this. */
const made = async (more: object = {}): Promise<Json> => record((await post(more)).body.User.ID);
const refused = async (more: object, code: string, status = 400) => {
  properError(await post(more), status, code);
};

test("POST /x-users response: Action, User {ID, SecretKey, Updates {the nine fields}}", async () => {
  const given = body({ HardLimit: 7, SoftLimit: 5.5 });
  const { status, body: answered } = await bench.call(owner.key, "POST", "/x-users", given);
  expect([status, answered]).toEqual([
    200,
    {
      Action: "add",
      User: {
        ID: expect.any(Number),
        SecretKey: expect.stringMatching(/^sk-[0-9A-Za-z]{48}$/),
        Updates: {
          Name: given.Name,
          Email: "made@spec.example",
          CreditGranted: 2,
          Balance: 2,
          HardLimit: 7,
          SoftLimit: 5.5,
          Status: true,
          Level: 0,
          DNA: `.1.${owner.id}.`,
        },
      },
    },
  ]);
  const { User } = answered;
  expect((await bench.call(User.SecretKey, "GET", "/dashboard/status")).body.id).toBe(User.ID);
});

describe("POST /x-users required", () => {
  test.each(["Name", "Email", "CreditGranted"])("%s", (field) =>
    refused({ [field]: undefined }, "missing_parameter"),
  );
});

/** A field, the value given, and how the record has it. */
test.each([
  ["Alias", "The Team", "The Team"],
  ["BillingEmail", "pay@spec.example", "pay@spec.example"],
  ["Rates", 1.25, 1.25],
  ["HardLimit", 100.5, 100.5],
  ["SoftLimit", 80, 80],
  ["AutoQuota", 3, 3],
  ["RPM", 1, 1],
  ["RPH", 2, 2],
  ["RPD", 3, 3],
  ["TPM", 4, 4],
  ["TPH", 5, 5],
  ["TPD", 6, 6],
  ["AllowIPs", "127.0.0.1, 10.0.0.0/8", "127.0.0.1 10.0.0.0/8"],
  ["AllowModels", "gpt-*, claude-*", "gpt-* claude-*"],
  ["Resources", "/v1/messages /v1/audio/*", "/v1/messages /v1/audio/*"],
  ["ModelLimits", { "gpt-4o": { rpm: 1, tpm: 2, rpd: 3 } }, { "gpt-4o": { rpm: 1, tpm: 2, rpd: 3 } }],
])("POST /x-users optional %s", async (field, given, shown) => {
  expect((await made({ [field]: given }))[field]).toEqual(shown);
});

test("POST /x-users optional Days: the credit's validity", async () => {
  const { body: answered } = await post({ Days: 3 });
  const { credits } = (await bench.call(answered.User.SecretKey, "GET", "/dashboard/info")).body.balance;
  const days = (Date.parse(credits[0].expires_at) - bench.now()) / 86_400_000;
  expect(days).toBeWithin(2.99, 3.0001);
});

/** Fields that only a change takes, and what the service alone says. */
test.each([
  ["DailyLimit", 1],
  ["UserLimit", 1],
  ["AllowLevels", "1"],
  ["ModelMapper", "a=b"],
  ["QRCode", "https://img.example/qr.png"],
  ["Status", true],
  ["Suspended", false],
  ["Level", 1],
  ["Role", 1],
  ["Gear", 1],
  ["Tier", 1],
  ["Factor", 1],
  ["LevelMapper", "a=1"],
  ["DNA", ".1."],
  ["ParentID", 1],
  ["CreditUsed", 0],
  ["ChargeAmount", 0],
  ["XCredit", 0],
  ["ID", 9],
  ["Balance", 9],
  ["CreatedAt", "2026-01-01T00:00:00Z"],
])("POST /x-users %s is none of its fields: 400 unknown_field", (field, value) =>
  refused({ [field]: value }, "unknown_field"),
);

test("Alias defaults to Name", async () => {
  const { Name, Alias } = await made();
  expect(Alias).toBe(Name);
});

test("BillingEmail defaults to Email", async () => {
  expect((await made()).BillingEmail).toBe("made@spec.example");
});

test.each(["no-at", "a@b..example", "a b@c.example", "a@b.example,c@d.example", ""])(
  "Email must be valid: %j is not",
  (Email) => refused({ Email }, "invalid_parameter"),
);

test("Email need not be unique", async () => {
  expect([(await post()).status, (await post()).status]).toEqual([200, 200]);
});

test("Name is unique, without regard to case", async () => {
  const { Name } = await made();
  await refused({ Name: Name.toUpperCase() }, "duplicate_name");
});

test("a creation that is refused leaves its Name free", async () => {
  const Name = `late-${fresh()}`;
  await refused({ Name, CreditGranted: 1_000_000 }, "insufficient_parent_balance");
  await refused({ Name, Rates: 0.5 }, "rate_below_parent");
  expect((await post({ Name })).status).toBe(200);
});

test("Rates must be at least the parent's, which are inherited", async () => {
  const parent = await bench.subaccount(owner, { CreditGranted: 10, Rates: 2 });
  const child = (given: object) => bench.call(parent.key, "POST", "/x-users", body(given));
  const low = await child({ Rates: 1.99 });
  expect([low.status, low.body.error.code]).toEqual([400, "rate_below_parent"]);
  expect((await record((await child({})).body.User.ID)).Rates).toBe(2);
  expect((await child({ Rates: 2 })).status).toBe(200);
});

test("Resources must be a subset of the parent's", async () => {
  const parent = await bench.subaccount(owner, { CreditGranted: 10, Resources: "/v1/audio/*" });
  const child = (Resources: string) => bench.call(parent.key, "POST", "/x-users", body({ Resources }));
  expect((await child("/v1/messages")).body.error.code).toBe("resources_not_subset");
  expect((await child("/v1/audio/speech")).status).toBe(200);
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

test("Root is account 1, Name root, Gear 0, DNA a dot", async () => {
  const { user } = (await bench.call(bench.rootKey, "GET", "/dashboard/info")).body;
  expect(user).toMatchObject({ id: 1, name: "root", gear: 0, dna: "." });
});

test("limits default to 0, which is none; UserLimit to null", async () => {
  const zero = [
    "RPM",
    "RPH",
    "RPD",
    "TPM",
    "TPH",
    "TPD",
    "HardLimit",
    "SoftLimit",
    "DailyLimit",
    "AutoQuota",
  ];
  const found = await made();
  expect(zero.map((field) => found[field])).toEqual(zero.map(() => 0));
  expect(found.UserLimit).toBeNull();
});

test("isOwner: from Root only, and only true; else 403 field_not_settable", async () => {
  await refused({ isOwner: true }, "field_not_settable", 403);
  const no = await post({ isOwner: false }, bench.rootKey);
  expect([no.status, no.body.error.code]).toEqual([403, "field_not_settable"]);
  expect((await post({ isOwner: true }, bench.rootKey)).status).toBe(200);
});

test("what is asked in the address of POST and PUT /x-users is no field: 400 unknown_field", async () => {
  const query = await bench.call(owner.key, "POST", "/x-users?Days=3", body());
  expect([query.status, query.body.error?.code]).toEqual([400, "unknown_field"]);
  const user = await bench.subaccount(owner);
  const change = await bench.call(owner.key, "PUT", `/x-users/${user.id}?CreditGranted=5`, { Alias: "x" });
  expect([change.status, change.body.error?.code]).toEqual([400, "unknown_field"]);
  expect((await record(user.id)).Alias).toBe(user.name);
});
