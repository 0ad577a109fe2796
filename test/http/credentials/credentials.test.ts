// API keys anew: GET /x-gkey, POST /x-self, POST /x-root. The old key is dead with the answer.

import { beforeAll, describe, expect, test } from "bun:test";
import { type Account, fresh } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { confirming } from "../endpoints.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());

const self = (key: string, body: object = { confirm: confirming("SELF", bench.now()) }) =>
  bench.call(key, "POST", "/x-self", body);
const root = (body: object, key = bench.rootKey) =>
  bench.call(key, "POST", "/x-root", { confirm: confirming("ROOT", bench.now()), ...body });
const status = async (key: string) => (await bench.call(key, "GET", "/dashboard/status")).status;
const chats = async (key: string) => (await bench.chat(key, "[[output=1]]")).status;

test("GET /x-gkey answers a fresh key that is nobody's", async () => {
  const keys = await Promise.all(
    [1, 2].map(async () => (await bench.call(owner.key, "GET", "/x-gkey")).body),
  );
  for (const { success, key } of keys) {
    expect(success).toBe(true);
    expect(key).toMatch(/^sk-[0-9A-Za-z]{48}$/);
    expect(await status(key)).toBe(401);
  }
  expect(keys[0].key).not.toBe(keys[1].key);
});

describe("POST /x-self", () => {
  let user: Account;
  beforeAll(async () => {
    user = await bench.subaccount(owner);
  });

  test("answers the new key once; the old one admits nothing from then on", async () => {
    expect(await chats(user.key)).toBe(200);
    const { status: code, body } = await self(user.key);
    expect([code, body]).toEqual([
      200,
      {
        success: true,
        message: expect.any(String),
        rotate: {
          action: "rotate_self",
          id: user.id,
          name: user.name,
          key: expect.stringMatching(/^sk-[0-9A-Za-z]{48}$/),
          timestamp: expect.any(String),
        },
      },
    ]);
    expect([await chats(user.key), await status(user.key)]).toEqual([401, 401]);
    expect([await chats(body.rotate.key), await status(body.rotate.key)]).toEqual([200, 200]);
    user = { ...user, key: body.rotate.key };
  });

  test.each([
    ["yesterday", () => confirming("SELF", bench.now() - 86_400_000)],
    ["another deed", () => confirming("ROOT", bench.now())],
    ["no date", () => "ROTATE-SELF"],
  ])("is confirm_mismatch for %s, and the key lives on", async (_, confirm) => {
    properError(await self(user.key, { confirm: confirm() }), 400, "confirm_mismatch");
    expect(await status(user.key)).toBe(200);
  });
});

describe("POST /x-root", () => {
  test("gives a named account another key: by name, id or e-mail", async () => {
    for (const called of ["name", "id", "email"] as const) {
      const user = await bench.subaccount(owner);
      const name = { name: user.name, id: String(user.id), email: `${user.name}@bench.example` }[called];
      const { body } = await root({ name });
      expect(body.rotate).toMatchObject({ action: "rotate_root", id: user.id, name: user.name });
      expect([await chats(user.key), await chats(body.rotate.key)]).toEqual([401, 200]);
    }
  });

  test("gives a chosen key, also one that somebody tried before", async () => {
    const user = await bench.subaccount(owner);
    const { key } = (await bench.call(bench.rootKey, "GET", "/x-gkey")).body;
    expect(await status(key)).toBe(401);
    expect((await root({ name: user.name, key })).body.rotate.key).toBe(key);
    expect([await status(user.key), await status(key)]).toEqual([401, 200]);
  });

  test("refuses a key in use, whoever has it", async () => {
    const [user, another] = [await bench.subaccount(owner), await bench.subaccount(owner)];
    for (const key of [another.key, user.key, bench.rootKey].filter((one) => one.length >= 32)) {
      properError(await root({ name: user.name, key }), 400, "invalid_parameter");
    }
    expect([await status(user.key), await status(another.key)]).toEqual([200, 200]);
  });

  test.each([{ key: "short" }, { key: `${"x".repeat(31)} ` }, { key: "x".repeat(129) }, { confirm: "no" }])(
    "refuses %j",
    async (bad) => {
      const user = await bench.subaccount(owner);
      properError(await root({ name: user.name, ...bad }));
      expect(await status(user.key)).toBe(200);
    },
  );

  test("is Root's alone, and knows nobody by a name that nobody has", async () => {
    properError(await root({ name: owner.name }, owner.key), 403);
    properError(await root({ name: `nobody-${fresh()}` }), 404);
  });

  test("without a name: Root's own key", async () => {
    const metrics = async (key: string) => (await bench.call(key, "GET", "/metrics")).status;
    expect(await metrics(bench.rootKey)).toBe(200);
    const { body } = await root({});
    expect(body.rotate).toMatchObject({ action: "rotate_root", id: 1, name: "root" });
    expect([await metrics(bench.rootKey), await metrics(body.rotate.key)]).toEqual([401, 200]);
    expect([await status(bench.rootKey), await status(body.rotate.key)]).toEqual([401, 200]);
    expect((await root({}, body.rotate.key)).status).toBe(200);
  });
});
