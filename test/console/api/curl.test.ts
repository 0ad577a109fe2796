// The command of a form, read by a shell: curl gets exactly the words that were meant, whatever stands in them.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { toNanos } from "../../../console/api/amount.ts";
import { type CurlCall, curlOf } from "../../../console/api/curl.ts";

/** The words that a command gives curl, as a shell reads them. */
function wordsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  const { stdout, exitCode } = Bun.spawnSync(["sh", "-c", script], {
    env: { ARBORGATE_KEY: "sk-of-a-shell" },
  });
  expect(exitCode).toBe(0);
  return stdout.toString().split("\0").slice(0, -1);
}

const QUIET = ["--silent", "--show-error", "--globoff"];
const AUTHORIZED = ["--header", "Authorization: Bearer sk-of-a-shell"];
const origin = "https://gateway.example";

describe("a command", () => {
  test("without a body", () => {
    const command = curlOf({ origin, method: "GET", path: "/x-users?name=a%20b&page=1" });
    expect(command).not.toContain("sk-");
    expect(command.split("\n")).toHaveLength(2);
    expect(wordsOf(command)).toEqual([
      ...QUIET,
      ...["--request", "GET", `${origin}/x-users?name=a%20b&page=1`],
      ...AUTHORIZED,
    ]);
  });

  test("names secrets of the body, and does not have them", () => {
    const body = {
      ...{ Level: 1, SecretKey: "sk-of-a-provider", EMAIL_PASS: "", key: "sk-chosen" },
      Config: { private_key: "-----BEGIN", project: "p" },
    };
    const words = wordsOf(curlOf({ origin, method: "POST", path: "/x-keys", body }));
    expect(JSON.parse(words.at(-1)!)).toEqual({
      ...{ Level: 1, SecretKey: "<SecretKey>", EMAIL_PASS: "", key: "<key>" },
      Config: { private_key: "<private_key>", project: "p" },
    });
  });

  test("with a body and headers: amounts are exact", () => {
    const body = { Name: "team-blue", CreditGranted: toNanos(9_007_199_254_740_993n), Days: undefined };
    const headers = { "Idempotency-Key": "it's-once" };
    expect(wordsOf(curlOf({ origin, method: "POST", path: "/x-users", body, headers }))).toEqual([
      ...[...QUIET, "--request", "POST", `${origin}/x-users`, ...AUTHORIZED],
      ...["--header", "Idempotency-Key: it's-once", "--header", "Content-Type: application/json"],
      ...["--data-raw", '{"Name":"team-blue","CreditGranted":9007199.254740993}'],
    ]);
  });

  test.each([
    "it's",
    "''",
    "'; exit 1; '",
    "two\nlines\\n",
    "$ARBORGATE_KEY `id` $(id) \\$x ! * ~ [a] {b,c}",
    "@/etc/passwd",
    '"double" \\"quoted\\"',
    "灯塔 🗼 é",
    "\u2028\t\r",
  ])("keeps %p as it is", (title) => {
    const words = wordsOf(curlOf({ origin, method: "POST", path: `/x-news/${title}`, body: { title } }));
    expect(words).toContain(`${origin}/x-news/${title}`);
    expect(JSON.parse(words.at(-1)!)).toEqual({ title });
  });
});

test("any text is one word", () => {
  // A name that is one of a secret's, such as "key", is drawn now and then: it has a "_" before it.
  const text = fc.string({ unit: "binary" }).filter((one) => !one.includes("\0") && one.isWellFormed());
  fc.assert(
    fc.property(text, text, (name, value) => {
      const call: CurlCall = { origin, method: "PUT", path: "/x-config", body: { [`_${name}`]: value } };
      const words = wordsOf(curlOf(call));
      expect(words).toHaveLength(12);
      expect(Object.entries(JSON.parse(words.at(-1)!))).toEqual([[`_${name}`, value]]);
    }),
    { numRuns: 40 },
  );
});
