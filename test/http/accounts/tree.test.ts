// The tree of accounts: what a child inherits, what it may not exceed, who sees whom, and that white lists act at once.

import { beforeEach, describe, expect, test } from "bun:test";
import type { Account } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { userBody } from "../bodies.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 10_000 }));

const create = (key: string, more: object = {}) => bench.call(key, "POST", "/x-users", userBody(more));
const read = async (key: string, identifier: string | number) =>
  bench.call(key, "GET", `/x-users/${encodeURIComponent(identifier)}`);

describe("the tree", () => {
  test("an account made by Root is an Owner, one made by an Owner is not, and DNA lists the ancestors", async () => {
    const child = await bench.subaccount(owner, { CreditGranted: 100 });
    const grandchild = await bench.subaccount(child);
    const [asOwner] = (await read(bench.rootKey, owner.id)).body;
    expect(asOwner).toMatchObject({ isOwner: true, DNA: ".1.", ParentID: 1, Gear: 1 });
    const [asChild] = (await read(owner.key, child.id)).body;
    expect(asChild).toMatchObject({ isOwner: false, DNA: `.1.${owner.id}.`, ParentID: owner.id });
    const [asGrandchild] = (await read(child.key, grandchild.id)).body;
    expect(asGrandchild).toMatchObject({ DNA: `.1.${owner.id}.${child.id}.`, ParentID: child.id });
  });

  test("Rates are inherited, and never below the parent's", async () => {
    const parent = await bench.subaccount(owner, { CreditGranted: 50, Rates: 2 });
    const child = await bench.subaccount(parent);
    expect((await read(parent.key, child.id)).body[0].Rates).toBe(2);
    properError(await create(parent.key, { Rates: 1.99 }), 400, "rate_below_parent");
    expect((await create(parent.key, { Rates: 2 })).status).toBe(200);
    const said = "[[prompt=10 output=10]]";
    const { headers } = await bench.chat(child.key, said);
    expect(headers.get("x-arbor-cost")).toBe("0.00006");
  });

  test("Resources must each be covered by the parent's", async () => {
    const parent = await bench.subaccount(owner, {
      CreditGranted: 50,
      Resources: "/v1/audio/*, /v1/chat/completions",
    });
    for (const Resources of ["/v1/audio/speech", "/v1/chat/completions /v1/audio/*"]) {
      expect((await create(parent.key, { Resources })).status).toBe(200);
    }
    for (const Resources of ["/v1/embeddings", "/v1/*", "/v1/audio/speech,/v1/models"]) {
      properError(await create(parent.key, { Resources }), 400, "resources_not_subset");
    }
    for (const Resources of ["chat", "/x-users", "/v1/a b?c", "http://x/v1/chat/completions"]) {
      expect((await create(owner.key, { Resources })).body.error.code).toBe("invalid_parameter");
    }
  });

  test("who is not one's own child is as if he did not exist: 404 user_not_found", async () => {
    const other = await bench.owner();
    const child = await bench.subaccount(owner, { CreditGranted: 50 });
    const grandchild = await bench.subaccount(child);
    const asked: [Account | { key: string }, Account][] = [
      [other, child],
      [child, owner],
      [child, child],
      [grandchild, child],
      [owner, grandchild],
      [owner, other],
    ];
    for (const [caller, target] of asked) {
      for (const identifier of [target.id, target.name]) {
        properError(await read(caller.key, identifier), 404, "user_not_found");
      }
    }
  });
});

describe("what a parent changes holds for everybody below it at once", () => {
  let parent: Account;
  let child: Account;
  let grandchild: Account;
  const put = (of: Account, change: object) => bench.call(owner.key, "PUT", `/x-users/${of.id}`, change);
  const asked = async (account: Account) =>
    (await bench.chat(account.key, "[[prompt=10 output=10]]")).body.error?.code;

  beforeEach(async () => {
    parent = await bench.subaccount(owner, { CreditGranted: 100 });
    child = await bench.subaccount(parent, { CreditGranted: 50 });
    grandchild = await bench.subaccount(child);
    // Their routes are at hand from here on.
    expect([await asked(parent), await asked(child), await asked(grandchild)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test.each([
    ["AllowModels", "gpt-*", "*", "model_not_allowed"],
    ["AllowLevels", "7", "", "level_not_allowed"],
    ["Resources", "/v1/embeddings", "", "path_not_allowed"],
  ])("%s narrowed and opened again", async (field, narrow, open, code) => {
    await put(parent, { [field]: narrow });
    expect([await asked(parent), await asked(child), await asked(grandchild)]).toEqual([code, code, code]);
    expect(await asked(owner)).toBeUndefined();
    await put(parent, { [field]: open });
    expect([await asked(parent), await asked(child), await asked(grandchild)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("lists of several in the chain must all allow it, and a narrower one below stays as it is", async () => {
    await put(child, { AllowModels: "bench-model gpt-4o" });
    await put(parent, { AllowModels: "bench-* o3" });
    expect(await asked(grandchild)).toBeUndefined();
    await put(parent, { AllowModels: "-bench-*" });
    expect(await asked(grandchild)).toBe("model_not_allowed");
    const [record] = (await bench.call(owner.key, "GET", `/x-dna/${child.id}`)).body;
    expect(record.AllowModels).toBe("bench-model gpt-4o");
  });

  test("Rates raised above: the highest of the chain counts, and the factor of the account alone", async () => {
    const cost = async () =>
      (await bench.chat(grandchild.key, "[[prompt=10 output=10]]")).headers.get("x-arbor-cost");
    expect(await cost()).toBe("0.00003");
    await put(parent, { Rates: 3 });
    expect(await cost()).toBe("0.00009");
    await put(grandchild, { Factor: 0.5 });
    expect(await cost()).toBe("0.000045");
    await put(parent, { Factor: 10 });
    expect(await cost()).toBe("0.000045");
    // What is written below is measured by the parent's own rate.
    expect((await put(grandchild, { Rates: 2 })).status).toBe(200);
    expect(await cost()).toBe("0.000045");
    expect((await put(child, { Rates: 2 })).body.error.code).toBe("rate_below_parent");
  });

  test("flags and limits act on the account alone", async () => {
    await put(parent, {
      ...{ Status: false, Suspended: true, AllowIPs: "10.0.0.1", RPM: 1, HardLimit: 0.000000001 },
    });
    expect([await asked(child), await asked(grandchild)]).toEqual([undefined, undefined]);
  });
});

describe("Resources on PUT", () => {
  test.each([
    ["/v1/audio/speech", 200],
    ["/v1/chat/completions /v1/audio/*", 200],
    ["/v1/embeddings", 400],
    ["/v1/*", 400],
    ["", 400],
  ])("%j below /v1/audio/* and /v1/chat/completions: %d", async (Resources, status) => {
    const parent = await bench.subaccount(owner, {
      CreditGranted: 50,
      Resources: "/v1/audio/*, /v1/chat/completions",
    });
    const child = await bench.subaccount(parent);
    const answer = await bench.call(parent.key, "PUT", `/x-users/${child.id}`, { Resources });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.error.code).toBe("resources_not_subset");
  });
});

test("an IPv4 client is allowed by its address, its range, and its IPv6-mapped form", async () => {
  for (const AllowIPs of ["127.0.0.1", "127.0.0.0/8", "::ffff:127.0.0.1", "10.0.0.1 127.0.0.1"]) {
    const child = await bench.subaccount(owner, { AllowIPs });
    expect((await bench.chat(child.key, "[[output=1]]")).status).toBe(200);
  }
  for (const AllowIPs of ["localhost", "127.0.0.1/33", "1.2.3", "::g", "127.0.0.1-9"]) {
    expect((await create(owner.key, { AllowIPs })).body.error.code).toBe("invalid_parameter");
  }
});
