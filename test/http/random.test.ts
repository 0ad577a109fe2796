// Random JSON against every endpoint that writes: whatever comes, a proper answer; and a refusal changes nothing.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { prepared, useBench } from "../e2e/use-bench.ts";
import { hostOf, methodOf, WRITING } from "./endpoints.ts";
import { proper, properError } from "./proper.ts";

const RUNS = 100;

const bench = useBench();
const owner = prepared(() => hostOf(bench, { credit: 100_000 }));
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 100 }));

const keyOf = (as: string | null): string =>
  as === "root" ? bench.rootKey : as === "owner" ? owner.key : user.key;

const names = [
  ..."__proto__ constructor toString length".split(" "),
  ...["\u0000", "\ud800", "\u202e", "\u{1f389}", "*", ""],
];
const json = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const oddText = fc.oneof(fc.string({ unit: "binary", maxLength: 80 }), fc.constantFrom(...names));
const oddNumber = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(-0, 0.1 + 0.2, 2 ** 53, -(2 ** 53), Number.MIN_VALUE, 1e-9, 4.35, 1e21),
);
const anything = fc.oneof(json, oddText, oddNumber, fc.constantFrom(null, true, false, [], {}));

describe.each(WRITING)("$name", (endpoint) => {
  const send = (body: unknown) =>
    bench.call(keyOf(endpoint.as), methodOf(endpoint.name), endpoint.path, body ?? "null");

  test("any JSON at all gets a proper answer", async () => {
    await fc.assert(
      fc.asyncProperty(json, async (body) => {
        properError(await send(JSON.stringify(body)));
      }),
      { numRuns: RUNS },
    );
  });

  test("a good body with any one field replaced by anything gets a proper answer, and is all or nothing", async () => {
    const fields = fc.constantFrom(...Object.keys(endpoint.fields), ...names);
    await fc.assert(
      fc.asyncProperty(fields, anything, async (field, value) => {
        const before = await bench.balance(keyOf(endpoint.as));
        const body = { ...endpoint.body(), max_tokens: undefined };
        Object.defineProperty(body, field, { value, enumerable: true, configurable: true });
        const answer = await send(JSON.stringify(body));
        proper(answer);
        if (answer.status !== 200) expect(await bench.balance(keyOf(endpoint.as))).toBe(before);
      }),
      { numRuns: RUNS },
    );
  });

  test("any bytes at all get a proper answer", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const response = await fetch(bench.url + endpoint.path, {
          method: methodOf(endpoint.name),
          headers: { authorization: `Bearer ${keyOf(endpoint.as)}` },
          body: bytes,
        });
        const text = await response.text();
        properError({ status: response.status, headers: response.headers, text, body: JSON.parse(text) });
      }),
      { numRuns: RUNS },
    );
  });
});

test("what was written can be read, and still adds up", async () => {
  const lines = await bench.ledger(owner.key);
  expect(lines.at(-1).balance_after).toBe(await bench.balance(owner.key));
  expect((await bench.call(owner.key, "GET", "/x-keys?page=0")).status).toBe(200);
  expect(bench.log.filter((one) => one.level === "error")).toEqual([]);
});
