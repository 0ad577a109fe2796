// PUT /x-users/{identifier}: what each field makes of an account, how it is found, that one bad field changes nothing, and
// what the operation log says of it. Lists, credit and moves have files of their own beside this one.

import { describe, expect, test } from "bun:test";
import { type Account, fresh, type Json } from "../../e2e/harness.ts";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";
import { changing } from "../changing.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 100_000 }));
const team = preparedEach(() => bench.subaccount(owner, { CreditGranted: 100 }));

const { put, record } = changing(() => ({ bench, owner, team }));

describe("the answer", () => {
  test("has the given fields as they now are, and the record has them too", async () => {
    const change = {
      ...{ Status: true, Suspended: false, Rates: 1.25, HardLimit: 50.000000001, SoftLimit: 40 },
      ...{ AutoQuota: 3, DailyLimit: 20, UserLimit: 7, RPM: 1, RPH: 2, RPD: 3, TPM: 4, TPH: 5, TPD: 6 },
      ...{ AllowIPs: "127.0.0.1,::1", AllowModels: "gpt-*, bench-model", AllowLevels: "1 2,3 2" },
      ...{ Resources: "/v1/chat/completions,/v1/audio/*" },
      ModelLimits: { "gpt-4o": { rpm: 5, tpd: 0 } },
      ...{ QRCode: "https://img.example/qr.png", Alias: "Blue", BillingEmail: "pay@b.example", Level: 2 },
      ...{ Role: 3, Gear: 4, Tier: 5, Factor: 0.5, LevelMapper: "gpt-*=1, claude-*=2" },
    };
    const now = {
      ...change,
      ...{ AllowIPs: "127.0.0.1 ::1", AllowModels: "gpt-* bench-model", AllowLevels: "1 2 3" },
      ...{ Resources: "/v1/chat/completions /v1/audio/*", LevelMapper: "gpt-*=1,claude-*=2" },
    };
    const answer = await put(change);
    expect(answer.body).toEqual({ Action: "update", User: { ID: team.id, Name: team.name, Updates: now } });
    const before = await record();
    expect(before).toMatchObject(now);
    // Fields that are not given stay, and no limit of a rate takes the others along.
    await put({ RPM: 9 });
    expect(await record()).toEqual({ ...before, RPM: 9, UpdatedAt: expect.any(String) });
  });

  test.each(["Alias", "QRCode"])("half a character in %s never reaches a reader's JSON", async (field) => {
    const text = "https://img.example/\ud800";
    expect((await put({ [field]: text })).body.User.Updates).toEqual({ [field]: text.toWellFormed() });
    const given = userBody({ Alias: text });
    const { ID } = (await bench.call(owner.key, "POST", "/x-users", given)).body.User;
    expect((await record(ID)).Alias).toBe(text.toWellFormed());
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
      properError(await put({ Alias: "x" }, { id }), 404, "user_not_found");
    },
  );

  test("an e-mail of several in reach is ambiguous, of one it is not", async () => {
    const Email = `${fresh()}@twins.example`;
    const one = await bench.subaccount(team, { Email });
    expect((await put({ Alias: "x" }, { id: Email })).body.User.ID).toBe(one.id);
    const two = await bench.subaccount(owner, { Email });
    properError(await put({ Alias: "y" }, { id: Email }), 400, "ambiguous_identifier");
    expect((await put({ Alias: "z" }, { id: Email, key: team.key })).body.User.ID).toBe(one.id);
    expect((await bench.call(owner.key, "DELETE", `/x-users/${Email}`)).body.error.code).toBe(
      "ambiguous_identifier",
    );
    await bench.call(owner.key, "DELETE", `/x-users/${two.id}`);
    expect((await put({ Alias: "w" }, { id: Email })).body.User.ID).toBe(one.id);
  });
});

describe("all or nothing", () => {
  test.each([
    ["a Level that is none", { Level: 1.5 }, "invalid_parameter"],
    ["a rate below the parent's", { Rates: 0.5 }, "rate_below_parent"],
    ["a list that cannot be", { AllowIPs: "here" }, "invalid_parameter"],
    ["Levels that cannot be", { AllowLevels: "one" }, "invalid_parameter"],
    ["a path that cannot be", { Resources: "/x-users" }, "invalid_parameter"],
    ["an address that is none", { QRCode: "javascript:alert(1)" }, "invalid_parameter"],
    ["an address without TLS", { QRCode: "http://img.example/qr.png" }, "invalid_parameter"],
    ["an address of no host", { QRCode: "https://" }, "invalid_parameter"],
    ["an address with a space", { QRCode: " https://img.example/qr.png" }, "invalid_parameter"],
    ["an image instead of its address", { QRCode: "data:image/png;base64,aaaa" }, "invalid_parameter"],
    ["a Gear of nobody but Root", { Gear: 0 }, "invalid_parameter"],
    ["a field of another endpoint", { Name: "other name" }, "unknown_field"],
    ["a field that nobody sets", { Balance: 9 }, "unknown_field"],
    ["Days without credit", { Days: 9, CreditGranted: undefined }, "missing_parameter"],
    ...["HardLimit", "SoftLimit", "DailyLimit", "AutoQuota", "CreditGranted"].map(
      (field) => [`${field} of less than a nano-dollar`, { [field]: 4e-10 }, "invalid_parameter"] as const,
    ),
    ["credit that is taken, of less than a nano-dollar", { CreditGranted: -4e-10 }, "invalid_parameter"],
    ["credit that is not there", { CreditGranted: 8_000_000 }, "insufficient_parent_balance"],
    ["credit that cannot be taken", { CreditGranted: -500 }, "insufficient_balance"],
  ])("%s: nothing changes", async (_, bad, code) => {
    const [before, balance] = [await record(), await bench.balance(owner.key)];
    properError(await put({ Alias: "never", CreditGranted: 5, RPM: 5, ...bad }), 400, code);
    expect([await record(), await bench.balance(owner.key)]).toEqual([before, balance]);
  });

  test("nothing at all is missing_parameter", async () => {
    properError(await put({}), 400, "missing_parameter");
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
});

test("of many changes at once on one account: no change is lost", async () => {
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
  expect([found.AllowModels.split(" ").length, found.Balance]).toEqual([12, 106]);
});

test("of two at once that together take away the last patterns: one is done as a whole, the other not at all", async () => {
  await put({ AllowModels: "a b" });
  const answers = await Promise.all(
    ["-a", "-b"].map((AllowModels) => put({ CreditGranted: 1, AllowModels })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
  const { AllowModels, Balance } = await record();
  expect([AllowModels, Balance]).toEqual([answers[0]!.status === 200 ? "b" : "a", 101]);
});
