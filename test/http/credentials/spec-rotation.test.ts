// The specification's table of keys and rotation: one test for each row and each refusal, through HTTP.

import { beforeEach, describe, expect, test } from "bun:test";
import type { Account, Json } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";

let user: Account;
const bench = useBench();
const owner = prepared(() => bench.owner());
beforeEach(async () => {
  user = await bench.subaccount(owner, { CreditGranted: 2 });
});

const KEY = /^sk-[0-9A-Za-z]{48}$/;
const today = (shift = 0) => new Date(bench.now() + shift).toISOString().slice(0, 10);
const self = (key: string, confirm: unknown = `${today()}-ROTATE-SELF`) =>
  bench.call(key, "POST", "/x-self", { confirm });
const root = (body: object = {}, key = bench.rootKey) =>
  bench.call(key, "POST", "/x-root", { confirm: `${today()}-ROTATE-ROOT`, ...body });
const who = async (key: string) => {
  const answer = await bench.call(key, "GET", "/dashboard/status");
  return answer.status === 200 ? answer.body.id : answer.status;
};
const code = ({ status, body }: { readonly status: number; readonly body: Json }) => [
  status,
  body.error?.code,
];

test("GET /x-gkey: success and a fresh key, assigned to nobody, another each time", async () => {
  const keys = await Promise.all([1, 2, 3].map(() => bench.call(user.key, "GET", "/x-gkey")));
  for (const { body } of keys) expect(body).toEqual({ success: true, key: expect.stringMatching(KEY) });
  expect(new Set(keys.map(({ body }) => body.key)).size).toBe(3);
  expect(await who(keys[0]!.body.key)).toBe(401);
});

describe("POST /x-self", () => {
  test("response: success, message, rotate {action, id, name, key, timestamp}", async () => {
    expect((await self(user.key)).body).toEqual({
      success: true,
      message: expect.any(String),
      rotate: {
        action: "rotate_self",
        id: user.id,
        name: user.name,
        key: expect.stringMatching(KEY),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
  });

  test("the old key admits nothing once it has answered, the new one all", async () => {
    const { key } = (await self(user.key)).body.rotate;
    expect((await bench.chat(user.key, "hi", { max_tokens: 5 })).status).toBe(401);
    expect([await who(user.key), await who(key)]).toEqual([401, user.id]);
    expect((await bench.chat(key, "hi", { max_tokens: 5 })).status).toBe(200);
  });

  test.each([
    ["another day", () => `${today(-86_400_000)}-ROTATE-SELF`],
    ["another deed", () => `${today()}-ROTATE-ROOT`],
    ["lower case", () => `${today()}-rotate-self`],
    ["a space behind", () => `${today()}-ROTATE-SELF `],
  ])("confirm of %s: 400 confirm_mismatch, and the key stays", async (_, confirm) => {
    expect(code(await self(user.key, confirm()))).toEqual([400, "confirm_mismatch"]);
    expect(await who(user.key)).toBe(user.id);
  });

  test("without confirm: 400 missing_parameter; with another type: 400 invalid_parameter", async () => {
    expect(code(await bench.call(user.key, "POST", "/x-self", {}))).toEqual([400, "missing_parameter"]);
    expect(code(await self(user.key, 5))).toEqual([400, "invalid_parameter"]);
  });

  test("of many at once with one key exactly one is done, and its key is good", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => self(user.key)));
    const keys = answers.filter(({ status }) => status === 200).map(({ body }) => body.rotate.key);
    const alive = (await Promise.all(keys.map(who))).filter((id) => id === user.id);
    expect(alive).toHaveLength(1);
  });
});

describe("POST /x-root", () => {
  test("is Root's alone: 403 not_root", async () => {
    for (const { key } of [owner, user]) expect(code(await root({}, key))).toEqual([403, "not_root"]);
  });

  test("name: a named user's key; answers as /x-self does, action rotate_root", async () => {
    const { body } = await root({ name: user.name });
    const { key } = body.rotate;
    expect(body).toMatchObject({
      success: true,
      rotate: { action: "rotate_root", id: user.id, name: user.name, key: expect.stringMatching(KEY) },
    });
    expect([await who(user.key), await who(key)]).toEqual([401, user.id]);
  });

  test("key: chosen, as GET /x-gkey made it", async () => {
    const { key } = (await bench.call(user.key, "GET", "/x-gkey")).body;
    expect((await root({ name: user.name, key })).body.rotate.key).toBe(key);
    expect(await who(key)).toBe(user.id);
  });

  test.each([
    ["31 characters", "k".repeat(31)],
    ["129 characters", "k".repeat(129)],
    ["a space", `${"k".repeat(40)} k`],
    ["another letter than ASCII", `${"k".repeat(40)}é`],
  ])("key of %s: 400", async (_, key) => {
    expect(code(await root({ name: user.name, key }))).toEqual([400, "invalid_parameter"]);
    expect(await who(user.key)).toBe(user.id);
  });

  test("key that an account uses: 400, and both keep theirs", async () => {
    expect((await root({ name: user.name, key: owner.key })).status).toBe(400);
    expect([await who(user.key), await who(owner.key)]).toEqual([user.id, owner.id]);
  });

  test("name of nobody: 404 user_not_found", async () => {
    expect(code(await root({ name: "nobody-here" }))).toEqual([404, "user_not_found"]);
  });

  test("confirm must say ROTATE-ROOT and today", async () => {
    expect(code(await root({ confirm: `${today()}-ROTATE-SELF` }))).toEqual([400, "confirm_mismatch"]);
    expect(await who(bench.rootKey)).toBe(1);
  });

  test("name defaults to root", async () => {
    const { rotate } = (await root({ key: "the-second-key-of-root-is-chosen-here" })).body;
    expect([rotate.id, rotate.name]).toEqual([1, "root"]);
    expect(await who(bench.rootKey)).toBe(401);
    const back = await root({ name: "root", key: bench.rootKey }, rotate.key);
    expect([back.status, await who(bench.rootKey)]).toEqual([200, 1]);
  });
});
