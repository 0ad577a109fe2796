// Rate limits while many requests come at once: exactly as many are admitted as the limit says.

import { describe, expect, test } from "bun:test";
import { type Account, type Answer, charges, MODEL } from "./harness.ts";
import { prepared, useBench } from "./use-bench.ts";

const MANY = 200;
/** All are decided before the first one ends. */
const SLOW = "head_ms=400";

const bench = useBench();
const owner = prepared(() => bench.owner());

interface Crowd {
  readonly admitted: Answer[];
  readonly refused: Answer[];
  readonly codes: string[];
}

async function crowd(user: Account, said: string, more: object, count = MANY): Promise<Crowd> {
  const answers = await Promise.all(Array.from({ length: count }, () => bench.chat(user.key, said, more)));
  const refused = answers.filter((answer) => answer.status !== 200);
  return {
    admitted: answers.filter((answer) => answer.status === 200),
    refused,
    codes: [...new Set(refused.map((answer) => answer.body.error.code))],
  };
}

describe("rates are exact", () => {
  test.each([
    ["RPM", "rpm_exceeded", 37, 60],
    ["RPH", "rph_exceeded", 23, 3_660],
    ["RPD", "rpd_exceeded", 11, 86_400],
  ])("%s admits as many as it says and not one more", async (field, code, limit, longest) => {
    const user = await bench.subaccount(owner, { CreditGranted: 30, [field]: limit });
    const { admitted, refused, codes } = await crowd(user, "[[output=1 prompt=1 head_ms=50]]", {
      max_tokens: 1,
    });
    expect(admitted).toHaveLength(limit);
    expect(codes).toEqual([code]);
    const [one] = refused;
    expect(one!.body.error).toMatchObject({
      type: "rate_limit_error",
      message: expect.stringContaining("account"),
    });
    expect(Number(one!.headers.get("retry-after"))).toBeWithin(1, longest + 2);
    expect(charges(await bench.ledger(user.key))).toHaveLength(limit);
  });

  test("TPM holds each request's worst case and never admits past the limit", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 30, TPM: 3_000 });
    const said = `[[${SLOW} output=20 prompt=10]]`;
    const probe = await bench.subaccount(owner, { CreditGranted: 5, TPM: 3_000 });
    const alone = await bench.chat(probe.key, said, { max_tokens: 20 });
    const each = 3_000 - Number(alone.headers.get("x-ratelimit-remaining-tokens"));
    expect(each).toBeGreaterThanOrEqual(40);
    const { admitted, codes } = await crowd(user, said, { max_tokens: 20 });
    expect(codes).toEqual(["tpm_exceeded"]);
    expect(admitted).toHaveLength(Math.floor(3_000 / each));
    // Once settled, only what was really used counts.
    const used = admitted.length * 30;
    const after = await bench.chat(user.key, said, { max_tokens: 20 });
    expect(3_000 - Number(after.headers.get("x-ratelimit-remaining-tokens"))).toBe(used + each);
  });

  test("ModelLimits hold for the model alone, and the message says so", async () => {
    const user = await bench.subaccount(owner, {
      CreditGranted: 10,
      ModelLimits: { [MODEL]: { rpm: 3 } },
    });
    const { admitted, refused, codes } = await crowd(user, "[[output=1 prompt=1]]", { max_tokens: 1 }, 20);
    expect(admitted).toHaveLength(3);
    expect(codes).toEqual(["rpm_exceeded"]);
    expect(refused[0]!.body.error.message).toContain(`model ${MODEL}`);
    const other = await bench.chat(user.key, "[[output=1]]", { model: "gpt-4o-mini", max_tokens: 1 });
    expect(other.status).toBe(200);
  });

  test("a request that failed counts all the same", async () => {
    const user = await bench.subaccount(owner, { RPM: 2 });
    for (let i = 0; i < 2; i++) expect((await bench.chat(user.key, "[[fault=500]]")).status).toBe(502);
    expect((await bench.chat(user.key, "[[output=1]]")).body.error.code).toBe("rpm_exceeded");
  });
});
