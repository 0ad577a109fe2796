// Every endpoint against bodies and fields that nobody should send: never a 500, never a hang, always the contract's error,
// and nothing changes.

import { beforeAll, describe, expect, test } from "bun:test";
import type { Json } from "../e2e/harness.ts";
import { prepared, useBench } from "../e2e/use-bench.ts";
import { ENDPOINTS, hostOf, methodOf, routeNames, WRITING, WRONG } from "./endpoints.ts";
import { proper, properError } from "./proper.ts";
import { settingsOf } from "./provider-keys/rows.ts";
import { wellCalled } from "./well-called.ts";

let before: Json;
const bench = useBench({ settings: { MAX_BODY_MB: "1" } });
const owner = prepared(() => hostOf(bench));
const user = prepared(() => bench.subaccount(owner));
beforeAll(async () => {
  before = await everything();
});

const keyOf = (as: "root" | "owner" | "user" | null): string =>
  ({ root: bench.rootKey, owner: owner.key, user: user.key })[as ?? "user"];

/** All that a request could change: money, accounts, keys, and what a model costs. */
async function everything(): Promise<Json> {
  const [owned, used, root] = await Promise.all([
    bench.ledger(owner.key),
    bench.ledger(user.key),
    bench.ledger(bench.rootKey),
  ]);
  const keys = (await bench.call(owner.key, "GET", "/x-keys?page=0")).body.keys.map(settingsOf);
  return { owned, used, root, keys, totals: bench.provider.totals() };
}

test("every route has its row in the table, and every row its route", () => {
  expect(Object.keys(ENDPOINTS).sort()).toEqual(routeNames().sort());
});

test.each(Object.keys(ENDPOINTS))("%s works when it is called well", async (name) => {
  const { key, method, path, body } = await wellCalled({ bench, owner, user }, name);
  const answer = await bench.call(key, method, path, body);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("x-request-id")).toBeString();
  before = await everything();
});

const send = (endpoint: (typeof WRITING)[number], body: string | object) =>
  bench.call(keyOf(endpoint.as), methodOf(endpoint.name), endpoint.path, body);

describe.each(WRITING)("$name", (endpoint) => {
  test.each([
    "",
    " ",
    "{",
    "}",
    "[1,2",
    "nul",
    "undefined",
    "{'a':1}",
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":01}',
    '{"a":1}}',
    '{"a":1,}',
    '{"a" 1}',
    '{"a":"\u0000"}',
    "\u0000",
    "<xml/>",
    "a=1&b=2",
    '{"a":"\\ud8"}',
  ])("answers 400 invalid_json to %j", async (text) => {
    properError(await send(endpoint, text), 400, "invalid_json");
  });

  test.each(["null", "[]", "[{}]", "1", "-0", "1e999", '"text"', "true", "[[[]]]"])(
    "answers 400 to %s, which is JSON but no object",
    async (text) => {
      const answer = await send(endpoint, text);
      properError(answer);
      expect(["invalid_parameter", "missing_parameter"]).toContain(answer.body.error.code);
    },
  );

  test("says which field is missing", async () => {
    properError(await send(endpoint, {}), 400, "missing_parameter");
  });

  test.each(Object.entries(endpoint.fields))(
    "refuses a wrong kind of %s (takes: %s) and names it",
    async (field, kind) => {
      for (const value of WRONG[kind]) {
        const answer = await send(endpoint, { ...endpoint.body(), [field]: value });
        properError(answer);
        expect(["invalid_parameter", "invalid_pricing"]).toContain(answer.body.error.code);
        expect(answer.body.error.message).toContain(field);
      }
    },
  );

  test.each(Object.entries(endpoint.fields).filter(([, kind]) => kind === "number" || kind === "integer"))(
    "refuses %s beyond all bounds, and text that pretends to be a number",
    async (field) => {
      const good = JSON.stringify({ ...endpoint.body(), [field]: 4_711 });
      for (const number of "1e308 -1e308 1e999 9007199254740993 -9007199254740993 -4000000".split(" ")) {
        const answer = await send(endpoint, good.replace("4711", number));
        properError(answer);
        expect(answer.body.error.message).toContain(field);
      }
    },
  );

  const unknown = [
    ..."__proto__ constructor prototype toString hasOwnProperty name".split(" "),
    ...["", " ", "\u0000"],
  ].filter((field) => !Object.hasOwn(endpoint.fields, field));
  test.each(unknown)("refuses the unknown field %j, and never takes it for one of its own", async (field) => {
    const text = JSON.stringify({ ...endpoint.body(), UNKNOWN: { isOwner: true } }).replace(
      '"UNKNOWN"',
      JSON.stringify(field),
    );
    const answer = await send(endpoint, text);
    if (endpoint.open) return proper(answer);
    properError(answer, 400, "unknown_field");
  });

  test.each([100, 1_000, 10_000, 100_000])("survives nesting %d deep, in any place", async (depth) => {
    const arrays = "[".repeat(depth) + "]".repeat(depth);
    const objects = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    for (const deep of [arrays, objects]) {
      properError(await send(endpoint, deep));
      for (const field of [...Object.keys(endpoint.fields), "unknown"]) {
        const text = JSON.stringify({ ...endpoint.body(), [field]: "DEEP" }).replace('"DEEP"', deep);
        proper(await send(endpoint, text));
      }
    }
  });

  test("refuses a body over MAX_BODY_MB, just over or far over, announced or not", async () => {
    for (const bytes of [1_048_577, 1_500_000, 2_200_000, 6_000_000]) {
      const text = JSON.stringify({ ...endpoint.body(), padding: "x".repeat(bytes) });
      properError(await send(endpoint, text), 400, "body_too_large");
      const chunked = await fetch(bench.url + endpoint.path, {
        method: methodOf(endpoint.name),
        headers: { authorization: `Bearer ${keyOf(endpoint.as)}` },
        body: chunksOf(text),
      });
      const said = await chunked.text();
      properError({ status: chunked.status, headers: chunked.headers, text: said, body: JSON.parse(said) });
    }
  });

  test("reads JSON whatever the content type says", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "x", ""]) {
      const answer = await bench.call(keyOf(endpoint.as), methodOf(endpoint.name), endpoint.path, "{}", {
        headers: { "content-type": type },
      });
      properError(answer, 400, "missing_parameter");
    }
  });

  test("bad input has changed nothing", async () => {
    // What passed through to the provider is the gateway's business.
    if (!endpoint.open) expect(await everything()).toEqual(before);
    else before = await everything();
  });
});

function chunksOf(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + 65_536));
      at += 65_536;
    },
  });
}

test("nothing of all this was a failure of the service", () => {
  expect(bench.log.filter((line) => line.level === "error")).toEqual([]);
});
