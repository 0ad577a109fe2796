// The specification's rules of POST /x-conf for maps: the mapper syntax, ModelLimits, and how they cascade. One test for each
// sentence, through HTTP; the fields themselves are in spec-conf.test.ts.

import { beforeEach, describe, expect, test } from "bun:test";
import { type Account, fresh, type Json, MODEL, type Owner } from "../../e2e/harness.ts";
import { useBench } from "../../e2e/use-bench.ts";
import { batch } from "../batch.ts";
import { properError } from "../proper.ts";

let owner: Owner;
/** A child of the Owner, and its child. */
let team: Account;
let member: Account;
const bench = useBench();
beforeEach(async () => {
  owner = await bench.owner();
  team = await bench.subaccount(owner);
  member = await bench.subaccount(team, { CreditGranted: 2 });
});

const { conf, applied, config, read, mapper, limits, own, served } = batch(() => ({ bench, owner }));

describe("Mapper syntax", () => {
  test.each<[string, string, Json]>([
    ["pattern=target adds", "c=d", { a: "b", c: "d" }],
    ["pattern=target updates", "a=c", { a: "c" }],
    ["-pattern deletes", "-a", {}],
    ["-pattern of what is not there harms nothing", "-zzz", { a: "b" }],
    ["combinations are separated by commas", " c = d , -a, e=f ,", { c: "d", e: "f" }],
    ["of one pattern the last word counts", "c=d, -c, a=x, a=y", { a: "y" }],
    ["nothing at all changes nothing", "", { a: "b" }],
  ])("%s", async (_, text, expected) => {
    await applied({ ModelMapper: "a=b" });
    expect((await applied({ ModelMapper: text })).ModelMapper).toEqual(expected);
    expect((await read()).ModelMapper).toEqual(expected);
  });

  test("more than 1024 entries in all are refused, and nothing changes", async () => {
    const entries = (from: number) => Array.from({ length: 600 }, (_, i) => `m${from + i}=x`).join(",");
    await applied({ ModelMapper: entries(0) });
    const answer = await conf({ ModelMapper: entries(600), SwitchOver: "1=2" });
    properError(answer);
    expect(answer.body.error.message).toContain("1024");
    const { ModelMapper, SwitchOver } = await read();
    expect([Object.keys(ModelMapper).length, SwitchOver]).toEqual([600, {}]);
  });

  test("two at once lose nothing of each other", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `m${i}`);
    await Promise.all(names.map((name) => applied({ ModelMapper: `${name}=x`, LevelMapper: `${name}=1` })));
    expect((await read()).ModelMapper).toEqual(Object.fromEntries(names.map((name) => [name, "x"])));
  });
});

describe("ModelLimits", () => {
  const two = { a: { rpm: 1, tpm: 2 }, b: { rpd: 3 } };

  test.each<[string, unknown, Json]>([
    [
      "an object merges, figure by figure",
      { a: { rpm: 9 }, c: { tpd: 1 } },
      { a: { rpm: 9, tpm: 2 }, b: { rpd: 3 }, c: { tpd: 1 } },
    ],
    ["the text of an object merges as well", '{"c":{"rph":1}}', { ...two, c: { rph: 1 } }],
    ["* clears all", "*", {}],
    ["-model, -model2 deletes those", "-a, -b", {}],
    ["-model deletes that one", "-a", { b: { rpd: 3 } }],
  ])("%s, for the Owner and for all below", async (_, given, expected) => {
    await applied({ ModelLimits: two });
    expect((await applied({ ModelLimits: given })).ModelLimits).toEqual(expected);
    for (const account of [team, member]) expect(await limits(account)).toEqual(expected);
  });

  test.each<[unknown]>([
    ["a"],
    ["a=1"],
    [{ a: { rps: 1 } }],
    [{ a: { rpm: -1 } }],
    [{ a: { rpm: 1.5 } }],
    [{ a: 1 }],
    ["{"],
  ])("%j is 400, and nothing changes", async (given) => {
    await applied({ ModelLimits: two });
    properError(await conf({ ModelLimits: given }));
    expect((await read()).ModelLimits).toEqual(two);
  });
});

describe("Cascading", () => {
  test("is additive: a descendant's other own mappings stay", async () => {
    await own(team, "mine=x");
    await applied({ ModelMapper: "theirs=y" });
    expect(await mapper(team)).toEqual({ mine: "x", theirs: "y" });
  });

  test("a deletion deletes the matching mapping of every descendant", async () => {
    await own(team, "gone=x,kept=y");
    await own(member, "gone=z");
    await applied({ ModelMapper: "-gone" });
    expect([await mapper(team), await mapper(member)]).toEqual([{ kept: "y" }, {}]);
  });

  test("an account may set its own again afterwards", async () => {
    await applied({ ModelMapper: "fast=one" });
    await own(member, "fast=two");
    expect([await mapper(team), await mapper(member)]).toEqual([{ fast: "one" }, { fast: "two" }]);
    await applied({ ModelMapper: "fast=three" });
    expect([await mapper(team), await mapper(member)]).toEqual([{ fast: "three" }, { fast: "three" }]);
  });

  test("children made later have it, too", async () => {
    await applied({ ModelMapper: "fast=one", ModelLimits: { fast: { rpm: 7 } } });
    const born = await bench.subaccount(team, { CreditGranted: 2 });
    expect([await mapper(born), await limits(born)]).toEqual([{ fast: "one" }, { fast: { rpm: 7 } }]);
  });

  test("an Owner's reaches its own tree and no other", async () => {
    const stranger = await bench.subaccount(await bench.owner());
    await applied({ ModelMapper: "fast=one" });
    expect(await mapper(stranger)).toEqual({});
  });

  test("a Root update affects all users but Root, of every tree", async () => {
    const other = await bench.owner();
    const stranger = await bench.subaccount(other);
    const name = `for-all-${fresh()}`;
    await own(stranger, `${name}=mine`);
    await applied({ ModelMapper: `${name}=${MODEL}` }, bench.rootKey);
    for (const account of [owner, team, member, other, stranger]) {
      expect((await mapper(account))[name]).toBe(MODEL);
    }
    expect(await served(stranger, name)).toBe(MODEL);
    await applied({ ModelMapper: `-${name}` }, bench.rootKey);
    expect(await mapper(stranger)).toEqual({});
  });

  test("a Root update of limits likewise, and what Root deletes is deleted there", async () => {
    const other = await bench.owner();
    const stranger = await bench.subaccount(other);
    const name = `for-all-${fresh()}`;
    await applied({ ModelLimits: { [name]: { rpm: 1 } } }, bench.rootKey);
    for (const account of [owner, team, member, other, stranger]) {
      expect((await limits(account))[name]).toEqual({ rpm: 1 });
    }
    expect((await read()).ModelLimits).toEqual({});
    await applied({ ModelLimits: `-${name}` }, bench.rootKey);
    expect(await limits(stranger)).toEqual({});
  });

  test("nothing else of Root's reaches anybody: its Levels, backups, paths and prices are its own", async () => {
    const before = await read();
    const all = {
      LevelMapper: `${MODEL}=99`,
      ModelFailover: `${MODEL}=none`,
      SwitchOver: "1=99",
      Resources: "/v1/models",
    };
    await applied(all, bench.rootKey);
    await bench.call(bench.rootKey, "PUT", "/x-config", {
      PRICING: { ChatPricing: { "*": { InputText: 9 } } },
      USER_API_BALANCE: 1_000_000,
    });
    expect(await read()).toEqual(before);
    const answer = await bench.chat(team.key, "[[prompt=1000 output=0]]");
    expect([answer.headers.get("x-arbor-level"), answer.headers.get("x-arbor-cost")]).toEqual(["1", "0.001"]);
    const keys = [
      "LEVEL_MAPPER",
      "MODEL_FAILOVER",
      "SWITCH_OVER",
      "RESOURCES",
      "PRICING",
      "USER_API_BALANCE",
    ];
    // And what an Owner resets goes back to what is built in, not to Root's.
    const reset = await bench.call(owner.key, "DELETE", "/x-config", { keys });
    expect(Object.values(reset.body.configs)).toEqual([{}, {}, {}, {}, "", 0]);
    await bench.call(bench.rootKey, "DELETE", "/x-config", { keys });
  });

  test("PUT /x-config does not cascade", async () => {
    await own(team, "fast=mine");
    await config({ MODEL_MAPPER: "fast=theirs", MODEL_LIMITS: { fast: { rpm: 1 } } });
    expect([await mapper(team), await limits(team)]).toEqual([{ fast: "mine" }, {}]);
  });
});
