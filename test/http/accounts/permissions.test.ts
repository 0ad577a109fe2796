// Who may do what to whom, cell by cell through HTTP: every field of PUT /x-users and every act, for everybody who could ask.
// The tables here are written by hand from the contract, apart from those of the code.

import { beforeAll, describe, expect, test } from "bun:test";
import { FIELDS } from "../../../src/http/accounts/permissions.ts";
import type { Account, Json, Owner } from "../../e2e/harness.ts";
import { expectError, useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";
import { proper } from "../proper.ts";

/** Everybody who could ask, and what they are to the account that they name. */
const WHO = [
  ...([
    "root",
    "owner",
    "ancestor",
    "parent",
    "self",
    "ownerItself",
    "rootItself",
    "sibling",
    "descendant",
  ] as const),
  ...(["stranger", "strangeOwner", "disabled", "suspended", "withoutUsers"] as const),
] as const;
type Who = (typeof WHO)[number];

interface Pair {
  readonly key: string;
  readonly target: number;
}

let owner: Owner;
let parent: Account;
let pairs: Record<Who, Pair>;

const bench = useBench();
beforeAll(async () => {
  const root = { id: 1, key: bench.rootKey, name: "root" };
  owner = await bench.owner({ credit: 10_000 });
  const ancestor = await bench.subaccount(owner, { CreditGranted: 5_000 });
  parent = await bench.subaccount(ancestor, { CreditGranted: 2_000 });
  const self = await bench.subaccount(parent, { CreditGranted: 100 });
  const sibling = await bench.subaccount(parent, { CreditGranted: 100 });
  const strangeOwner = await bench.owner({ credit: 1_000 });
  const stranger = await bench.subaccount(strangeOwner, { CreditGranted: 100 });
  const set = async (change: object) => {
    const above = await bench.subaccount(owner, { CreditGranted: 100 });
    const below = await bench.subaccount(above);
    await bench.call(owner.key, "PUT", `/x-users/${above.id}`, change);
    return { key: above.key, target: below.id };
  };
  const pair = (caller: { readonly key: string }, target: { readonly id: number }): Pair => ({
    key: caller.key,
    target: target.id,
  });
  pairs = {
    root: pair(root, self),
    owner: pair(owner, self),
    ancestor: pair(ancestor, self),
    parent: pair(parent, self),
    self: pair(self, self),
    ownerItself: pair(owner, owner),
    rootItself: pair(root, root),
    sibling: pair(sibling, self),
    descendant: pair(self, parent),
    stranger: pair(stranger, self),
    strangeOwner: pair(strangeOwner, self),
    disabled: await set({ Status: false }),
    suspended: await set({ Suspended: true }),
    withoutUsers: await set({ UserLimit: 0 }),
  };
});

/** Callers that are refused before it matters which field they set. */
const REFUSED: Partial<Record<Who, readonly [number, string]>> = {
  ...{ sibling: [404, "user_not_found"], descendant: [403, "not_ancestor"] },
  ...{ stranger: [404, "user_not_found"], strangeOwner: [404, "user_not_found"] },
  ...{ disabled: [403, "account_disabled"], suspended: [403, "account_suspended"] },
  ...{ withoutUsers: [403, "not_manager"] },
};

const ABOVE: readonly Who[] = ["root", "owner", "ancestor", "parent"];
const ITSELF: readonly Who[] = ["self", "ownerItself", "rootItself"];
const OWNERS: readonly Who[] = ["root", "owner"];

/** A field, a value that is fit, and who may set it. */
const FIELD_ROWS: readonly (readonly [string, () => Record<string, unknown>, readonly Who[]])[] = [
  ["CreditGranted", () => ({ CreditGranted: 1 }), ABOVE],
  ["Days", () => ({ Days: 30, CreditGranted: 1 }), ABOVE],
  ["Status", () => ({ Status: true }), ABOVE],
  ["Suspended", () => ({ Suspended: false }), ABOVE],
  ["Rates", () => ({ Rates: 1.5 }), ABOVE],
  ["HardLimit", () => ({ HardLimit: 900 }), ABOVE],
  ["SoftLimit", () => ({ SoftLimit: 800 }), [...ABOVE, ...ITSELF]],
  ["AutoQuota", () => ({ AutoQuota: 1 }), ABOVE],
  ["DailyLimit", () => ({ DailyLimit: 90 }), ABOVE],
  ["UserLimit", () => ({ UserLimit: 50 }), ABOVE],
  ["RPM", () => ({ RPM: 1_000 }), ABOVE],
  ["RPH", () => ({ RPH: 1_000 }), ABOVE],
  ["RPD", () => ({ RPD: 1_000 }), ABOVE],
  ["TPM", () => ({ TPM: 1_000_000 }), ABOVE],
  ["TPH", () => ({ TPH: 1_000_000 }), ABOVE],
  ["TPD", () => ({ TPD: 1_000_000 }), ABOVE],
  ["AllowModels", () => ({ AllowModels: "bench-*" }), [...ABOVE, "ownerItself", "rootItself"]],
  ["AllowIPs", () => ({ AllowIPs: "127.0.0.1 ::1" }), [...ABOVE, "ownerItself", "rootItself"]],
  ["AllowLevels", () => ({ AllowLevels: "1 2" }), ABOVE],
  ["Resources", () => ({ Resources: "/v1/chat/completions" }), ABOVE],
  ["ModelLimits", () => ({ ModelLimits: { "gpt-4o": { rpm: 5 } } }), ABOVE],
  ["ModelMapper", () => ({ ModelMapper: "mine=bench-model" }), ITSELF],
  ["QRCode", () => ({ QRCode: "https://img.example/qr.png" }), [...ABOVE, ...ITSELF]],
  ["Alias", () => ({ Alias: "The Blue Team" }), [...ABOVE, ...ITSELF]],
  ["BillingEmail", () => ({ BillingEmail: "pay@b.example" }), [...ABOVE, ...ITSELF]],
  ["Level", () => ({ Level: 1 }), OWNERS],
  ["Role", () => ({ Role: 3 }), OWNERS],
  ["Gear", () => ({ Gear: 2 }), OWNERS],
  ["Tier", () => ({ Tier: 4 }), OWNERS],
  ["Factor", () => ({ Factor: 1.25 }), OWNERS],
  ["LevelMapper", () => ({ LevelMapper: "gpt-*=1" }), OWNERS],
  ["ParentID", () => ({ ParentID: owner.id }), ["root"]],
  ["DNA", () => ({ ParentID: owner.id, DNA: `.1.${owner.id}.` }), ["root"]],
  ["CreditUsed", () => ({ CreditUsed: 1 }), ["root"]],
  ["ChargeAmount", () => ({ ChargeAmount: 100 }), ["root"]],
  ["XCredit", () => ({ XCredit: 0.5 }), ["root"]],
];

test("every field has its row, and every row its field", () => {
  expect(FIELD_ROWS.map(([field]) => field).sort()).toEqual(Object.keys(FIELDS).sort());
});

const shown = async (id: number): Promise<Json> => {
  const [record] = (await bench.call(bench.rootKey, "GET", `/x-dna/${id}`)).body;
  return record;
};

const CELLS = FIELD_ROWS.flatMap(([field, value, allowed]) =>
  WHO.map((who) => ({ field, who, value, allowed })),
);

test.each(CELLS)("PUT $field by $who", async ({ who, value, allowed }) => {
  const { key } = pairs[who];
  let { target } = pairs[who];
  // A move must not change who stands where for the cells to come.
  if (who === "root" && "ParentID" in value()) target = (await bench.subaccount(parent)).id;
  const before = target === 1 ? null : await shown(target);
  const answer = await bench.call(key, "PUT", `/x-users/${target}`, value());
  const refused = REFUSED[who] ?? (allowed.includes(who) ? null : [403, "field_not_settable"]);
  if (refused === null) {
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    expect(answer.body).toEqual({
      Action: "update",
      User: { ID: target, Name: expect.any(String), Updates: expect.objectContaining(value()) },
    });
    return;
  }
  expect([answer.status, answer.body.error.code]).toEqual([...refused]);
  if (refused[1] === "field_not_settable") {
    const named = Object.keys(value()).filter((one) => answer.body.error.message.includes(`"${one}"`));
    expect(named).toHaveLength(1);
  }
  if (before !== null) expect(await shown(target)).toEqual(before);
});

describe("one field that may not be set", () => {
  test("keeps all the others from being set, and the credit where it is", async () => {
    const { key, target } = pairs.parent;
    const before = await shown(target);
    const balance = await bench.balance(parent.key);
    const answer = await bench.call(key, "PUT", `/x-users/${target}`, {
      Alias: "never",
      CreditGranted: 5,
      Level: 9,
    });
    expectError(answer, 403, "field_not_settable");
    expect(await shown(target)).toEqual(before);
    expect(await bench.balance(parent.key)).toBe(balance);
  });
});

const GONE = [404, "user_not_found"] as const;
const NOT_ABOVE = [403, "not_ancestor"] as const;

const DISABLED = [403, "account_disabled"] as const;
const OK = [200] as const;

/** Callers that a row does not name: an account out of their reach is as if it did not exist. */
const OUT_OF_REACH = Object.fromEntries(WHO.map((who) => [who, GONE])) as unknown as Record<
  Who,
  readonly [number, string?]
>;
/** What each act answers to each. DELETE is asked last, and of whom it is allowed an account of its own goes. */
const ACT_ROWS: readonly (readonly [string, string, Partial<typeof OUT_OF_REACH>])[] = [
  ["GET", "/x-users", { parent: OK, disabled: DISABLED, suspended: OK }],
  ["GET", "/x-dna", { root: OK, owner: OK, ancestor: OK, parent: OK, disabled: DISABLED, suspended: OK }],
  [
    "DELETE",
    "/x-users",
    {
      ...{ root: OK, owner: OK, ancestor: OK, parent: OK, disabled: DISABLED },
      ...{ self: NOT_ABOVE, ownerItself: NOT_ABOVE, rootItself: NOT_ABOVE, descendant: NOT_ABOVE },
      ...{ suspended: [403, "account_suspended"], withoutUsers: [403, "not_manager"] },
    },
  ],
];

const ACT_CELLS = ACT_ROWS.flatMap(([method, path, answers]) =>
  WHO.map((who) => ({ method, path, who, expected: answers[who] ?? OUT_OF_REACH[who] })),
);

test.each(ACT_CELLS)("$method $path/{id} by $who", async ({ method, path, who, expected }) => {
  const { key } = pairs[who];
  let { target } = pairs[who];
  if (method === "DELETE" && expected[0] === 200) target = (await bench.subaccount(parent)).id;
  const answer = await bench.call(key, method, `${path}/${target}`);
  if (expected[0] !== 403) proper(answer);
  expect([answer.status, answer.body.error?.code]).toEqual([expected[0], expected[1]]);
});

/** Who may list the subaccounts of the account that a row of `pairs` names: its ancestors, and itself. */
const LISTED: readonly Who[] = [...ABOVE, ...ITSELF, "suspended"];

test.each(WHO)("GET /x-users?parent= by %s", async (who) => {
  const { key, target } = pairs[who];
  for (const more of ["", "&sort=balance&with=children"]) {
    const answer = await bench.call(key, "GET", `/x-users?parent=${target}${more}`);
    if (who === "disabled") expect([answer.status, answer.body.error.code]).toEqual([...DISABLED]);
    else if (!LISTED.includes(who)) expect([answer.status, answer.body.error?.code]).toEqual([...GONE]);
    else {
      expect(answer.status).toBe(200);
      expect(answer.body.every((one: Json) => one.ParentID === target)).toBe(true);
    }
  }
});

describe("POST /x-users", () => {
  test.each([
    ["root", 200, undefined],
    ["owner", 200, undefined],
    ["parent", 200, undefined],
    ["self", 200, undefined],
    ["disabled", 403, "account_disabled"],
    ["suspended", 403, "account_suspended"],
    ["withoutUsers", 400, "user_limit_reached"],
  ] as const)("by %s: %d %s", async (who, status, code) => {
    const body = userBody({ Name: `made-by-${who}` });
    const answer = await bench.call(pairs[who].key, "POST", "/x-users", body);
    expect([answer.status, answer.body.error?.code]).toEqual([status, code]);
  });
});

describe("lists", () => {
  test.each([
    ["parent", 200],
    ["suspended", 200],
    ["disabled", 403],
  ] as const)("of %s: %d", async (who, status) => {
    for (const path of ["/x-users", "/x-dna"]) {
      expect((await bench.call(pairs[who].key, "GET", path)).status).toBe(status);
    }
  });

  test("of who may have no subaccounts are empty, also of those that it has", async () => {
    for (const path of ["/x-users", "/x-dna", "/x-users/L0", "/x-dna/.1."]) {
      const answer = await bench.call(pairs.withoutUsers.key, "GET", path);
      expect([answer.status, answer.body, answer.headers.get("x-total-count")]).toEqual([200, [], "0"]);
    }
  });
});
