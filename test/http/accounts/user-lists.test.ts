// The lists and maps of PUT /x-users: what each syntax adds, takes away and refuses, as tables; and that no change is lost.

import { describe, expect, test } from "bun:test";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { changing } from "../changing.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner({ credit: 100_000 }));
const team = preparedEach(() => bench.subaccount(owner, { CreditGranted: 100 }));

const { put, record } = changing(() => ({ bench, owner, team }));

describe("AllowModels", () => {
  /** From, given, what it is then; null: 400. */
  test.each([
    ["", "gpt-*", "gpt-*"],
    ["gpt-*", "claude-*", "gpt-* claude-*"],
    ["gpt-*", "gpt-*", "gpt-*"],
    ["gpt-*", "", "gpt-*"],
    ["gpt-* claude-*", "-gpt-*", "claude-*"],
    ["gpt-* claude-*", "-gpt-*, o3 -claude-*", "o3"],
    ["gpt-* claude-*", "-o3", "gpt-* claude-*"],
    ["gpt-* claude-*", "*", ""],
    ["gpt-*", "* o3", "o3"],
    ["gpt-*", "-gpt-*", null],
    ["gpt-* o3", "-gpt-* -o3", null],
    ["", "-gpt-*", null],
    ["", "-gpt-* o3", null],
    ["gpt-*", "* -gpt-*", null],
    ["gpt-*", "-", null],
    ["gpt-*", `${"x".repeat(257)}`, null],
  ])("%j and %j", async (from, given, then) => {
    if (from !== "") await put({ AllowModels: from });
    const answer = await put({ AllowModels: given });
    if (then === null) {
      properError(answer, 400, "invalid_parameter");
      expect(answer.body.error.message).toContain("AllowModels");
    } else expect(answer.body.User.Updates).toEqual({ AllowModels: then });
    expect((await record()).AllowModels).toBe(then ?? from);
  });

  test("of many changes at once none is lost", async () => {
    const patterns = Array.from({ length: 30 }, (_, i) => `model-${i}`);
    const answers = await Promise.all(patterns.map((AllowModels) => put({ AllowModels })));
    expect(answers.every((answer) => answer.status === 200)).toBe(true);
    expect((await record()).AllowModels.split(" ").sort()).toEqual(patterns.sort());
  });
});

describe("maps", () => {
  test.each([
    ["", "a=b", "a=b"],
    ["a=b", "c*=d", "a=b,c*=d"],
    ["a=b", "a=c", "a=c"],
    ["a=b,c=d", "-a", "c=d"],
    ["a=b,c=d", "-a, e=f , c=g", "c=g,e=f"],
    ["a=b", "-nothing", "a=b"],
    ["a=b", "-a", ""],
    ["a=b", "", "a=b"],
    ["a=b", "a", null],
    ["a=b", "=b", null],
    ["a=b", "a=", null],
    ["a=b", "a=b*", null],
    ["a=b", "__proto__=b", null],
  ])("ModelMapper %j and %j", async (from, given, then) => {
    await put({ ModelMapper: from }, { key: team.key });
    const answer = await put({ ModelMapper: given }, { key: team.key });
    if (then === null) properError(answer);
    else expect(answer.body.User.Updates).toEqual({ ModelMapper: then });
    expect((await record()).ModelMapper).toBe(then ?? from);
  });

  test("ModelMapper is in force with the next request", async () => {
    await put({ ModelMapper: "mine=bench-model" }, { key: team.key });
    const answer = await bench.chat(team.key, "[[output=1]]", { model: "mine" });
    expect([answer.status, answer.headers.get("x-arbor-model")]).toEqual([200, "bench-model"]);
  });

  test.each([
    ["gpt-*=1", "claude-*=-2", "gpt-*=1,claude-*=-2"],
    ["gpt-*=1", "-gpt-*,o3=2", "o3=2"],
    ["gpt-*=1", "gpt-*=one", null],
    ["gpt-*=1", "gpt-*=1.5", null],
  ])("LevelMapper %j and %j", async (from, given, then) => {
    await put({ LevelMapper: from });
    const answer = await put({ LevelMapper: given });
    if (then === null) properError(answer);
    expect((await record()).LevelMapper).toBe(then ?? from);
  });

  const SOME = { "gpt-4o": { rpm: 5, tpm: 100 }, "o*": { rpd: 9 } };
  test.each([
    [{ o3: { rpm: 1 } }, { ...SOME, o3: { rpm: 1 } }],
    [{ "gpt-4o": { rpm: 6 } }, { ...SOME, "gpt-4o": { rpm: 6, tpm: 100 } }],
    [{ "gpt-4o": { tpm: 0 } }, { ...SOME, "gpt-4o": { rpm: 5, tpm: 0 } }],
    ["-o*", { "gpt-4o": SOME["gpt-4o"] }],
    ["-o*, -gpt-4o", {}],
    ["*", {}],
    [{}, SOME],
    ["gpt-4o", null],
    [{ "": { rpm: 1 } }, null],
    [{ o3: { RPM: 1 } }, null],
    [{ o3: { rpm: -1 } }, null],
    [{ o3: { rpm: 1.5 } }, null],
    [{ "o3\n": { rpm: "many" } }, null],
    [{ "o\u20283": "no limits" }, null],
  ])("ModelLimits %j", async (given, then) => {
    await put({ ModelLimits: SOME });
    const answer = await put({ ModelLimits: given });
    if (then === null) {
      properError(answer);
      expect(answer.body.error.message).toContain("ModelLimits");
    }
    expect((await record()).ModelLimits).toEqual(then ?? SOME);
  });
});
