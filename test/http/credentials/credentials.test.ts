// API keys anew: GET /x-gkey, POST /x-self, POST /x-root, their answers and each refusal. The old key is dead with the answer.

import { describe, expect, test } from "bun:test";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { confirming } from "../endpoints.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = preparedEach(() => bench.subaccount(owner, { CreditGranted: 2 }));

const KEY = /^sk-[0-9A-Za-z]{48}$/;
const DAY_MS = 86_400_000;
const self = (key: string, confirm: unknown = confirming("SELF", bench.now())) =>
  bench.call(key, "POST", "/x-self", { confirm });
const root = (body: object = {}, key = bench.rootKey) =>
  bench.call(key, "POST", "/x-root", { confirm: confirming("ROOT", bench.now()), ...body });
const who = async (key: string) => {
  const answer = await bench.call(key, "GET", "/dashboard/status");
  return answer.status === 200 ? answer.body.id : answer.status;
};
const chats = async (key: string) => (await bench.chat(key, "[[output=1]]")).status;

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
    ["another day", () => confirming("SELF", bench.now() - DAY_MS)],
    ["another deed", () => confirming("ROOT", bench.now())],
    ["lower case", () => confirming("SELF", bench.now()).toLowerCase()],
    ["a space behind", () => `${confirming("SELF", bench.now())} `],
  ])("confirm of %s: 400 confirm_mismatch, and the key stays", async (_, confirm) => {
    properError(await self(user.key, confirm()), 400, "confirm_mismatch");
    expect(await who(user.key)).toBe(user.id);
  });

  test("without confirm: 400 missing_parameter; with another type: 400 invalid_parameter", async () => {
    properError(await bench.call(user.key, "POST", "/x-self", {}), 400, "missing_parameter");
    properError(await self(user.key, 5), 400, "invalid_parameter");
  });

  test("of many at once with one key exactly one is done, and its key is good", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => self(user.key)));
    const done = answers.filter(({ status }) => status === 200);
    expect(done).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) properError(answer, 401, "invalid_api_key");
    expect(await who(done[0]!.body.rotate.key)).toBe(user.id);
  });

  test("a key that Root replaces at the same time does not replace Root's", async () => {
    const [byRoot] = await Promise.all([root({ name: user.name }), self(user.key)]);
    expect([byRoot.status, await who(byRoot.body.rotate.key)]).toEqual([200, user.id]);
  });
});

describe("POST /x-root", () => {
  test("is Root's alone: 403 not_root", async () => {
    for (const { key } of [owner, user]) properError(await root({}, key), 403, "not_root");
  });

  test("gives a named account another key: by name, id or e-mail", async () => {
    for (const called of ["name", "id", "email"] as const) {
      const user = await bench.subaccount(owner);
      const name = { name: user.name, id: String(user.id), email: `${user.name}@bench.example` }[called];
      const { body } = await root({ name });
      expect(body).toMatchObject({
        success: true,
        rotate: { action: "rotate_root", id: user.id, name: user.name },
      });
      expect([await chats(user.key), await chats(body.rotate.key)]).toEqual([401, 200]);
    }
  });

  test("gives a chosen key, also one that somebody tried before", async () => {
    const { key } = (await bench.call(bench.rootKey, "GET", "/x-gkey")).body;
    expect(await who(key)).toBe(401);
    expect((await root({ name: user.name, key })).body.rotate.key).toBe(key);
    expect([await who(user.key), await who(key)]).toEqual([401, user.id]);
  });

  test("refuses a key that any account uses", async () => {
    const [user, another] = [await bench.subaccount(owner), await bench.subaccount(owner)];
    for (const key of [another.key, user.key, bench.rootKey].filter((one) => one.length >= 32)) {
      properError(await root({ name: user.name, key }), 400, "invalid_parameter");
    }
    expect([await who(user.key), await who(another.key)]).toEqual([user.id, another.id]);
  });

  test.each([
    ["31 characters", "k".repeat(31)],
    ["129 characters", "k".repeat(129)],
    ["a space", `${"k".repeat(40)} k`],
    ["another letter than ASCII", `${"k".repeat(40)}é`],
  ])("key of %s: 400", async (_, key) => {
    properError(await root({ name: user.name, key }), 400, "invalid_parameter");
    expect(await who(user.key)).toBe(user.id);
  });

  test("name of nobody: 404 user_not_found", async () => {
    properError(await root({ name: "nobody-here" }), 404, "user_not_found");
  });

  test("confirm must say ROTATE-ROOT and today", async () => {
    properError(await root({ confirm: confirming("SELF", bench.now()) }), 400, "confirm_mismatch");
    expect(await who(bench.rootKey)).toBe(1);
  });

  test("of many at once on Root itself exactly one is done, and its key is good", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => root()));
    const done = answers.filter(({ status }) => status === 200);
    expect(done).toHaveLength(1);
    const { key } = done[0]!.body.rotate;
    const back = await root({ key: bench.rootKey }, key);
    expect([back.status, await who(bench.rootKey), await who(key)]).toEqual([200, 1, 401]);
  });

  test("name defaults to root", async () => {
    const { rotate } = (await root({ key: "the-second-key-of-root-is-chosen-here" })).body;
    expect([rotate.action, rotate.id, rotate.name]).toEqual(["rotate_root", 1, "root"]);
    const metrics = async (key: string) => (await bench.call(key, "GET", "/metrics")).status;
    expect([await who(bench.rootKey), await metrics(bench.rootKey), await metrics(rotate.key)]).toEqual([
      401, 401, 200,
    ]);
    const back = await root({ name: "root", key: bench.rootKey }, rotate.key);
    expect([back.status, await who(bench.rootKey)]).toEqual([200, 1]);
  });
});
