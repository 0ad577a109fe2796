// What the page of an account says before something is done: lists after a change, a transfer, a deletion; and what holds from above.

import { describe, expect, test } from "bun:test";
import { toNanos } from "../../../console/api/amount.ts";
import { deletionOf } from "../../../console/pages/account/deletion.ts";
import { type Above, highestRates, listsThatHold } from "../../../console/pages/account/effective.ts";
import { changeText, listChange, withChange, withTyped } from "../../../console/pages/account/list-change.ts";
import { creditAfter, transferPlan, validityDays } from "../../../console/pages/account/transfer-plan.ts";
import { accountStateOf, reachedModels } from "../../../console/pages/home/state-of.ts";
import { readModels } from "../../../src/http/accounts/user-lists.ts";

const usd = (amount: number) => toNanos(BigInt(Math.round(amount * 1e9)));

describe("a list", () => {
  test.each([
    [["gpt-*"], "o4-* gpt-*", ["gpt-*", "o4-*"]],
    [["gpt-*", "o4-*"], "-gpt-*", ["o4-*"]],
    [["gpt-*"], "*", []],
    [[], "claude-*，o4-*", ["claude-*", "o4-*"]],
    [["a", "b"], "* c", ["c"]],
  ])("%j with %s is %j, as the service has it after the change", (before, typed, after) => {
    expect(withTyped("AllowModels", before, typed)).toEqual(after);
    expect(readModels(changeText("AllowModels", before, after)!, before).toSorted()).toEqual(
      after.toSorted(),
    );
  });

  test("a Level may be negative, so it is taken away by its button alone", () => {
    expect(withTyped("AllowLevels", ["1"], "-1")).toEqual(["1", "-1"]);
  });

  test("a change leaves alone what others add and take away meanwhile", () => {
    const change = listChange(["a", "b", "c"], ["a", "c", "d"]);
    const now = ["b", "c", "e"];
    const after = withChange(now, change);
    expect(after).toEqual(["c", "e", "d"]);
    expect(changeText("AllowModels", now, after)).toBe("d,-b");
    expect(withChange(["c", "d"], change)).toEqual(["c", "d"]);
  });

  test("other lists are replaced; where nothing changes nothing is sent", () => {
    expect(changeText("Resources", ["/v1/a"], ["/v1/b", "/v1/c"])).toBe("/v1/b,/v1/c");
    expect(changeText("AllowIPs", ["10.0.0.1"], [])).toBe("");
    expect(changeText("AllowModels", ["a", "b"], ["b", "a"])).toBeNull();
  });
});

describe("what holds", () => {
  const above = (name: string, rates: number, AllowModels: readonly string[]): Above => ({
    ...{ name, rates, AllowModels, AllowLevels: [], Resources: [] },
  });
  const chain = [above("Top", 1.2, ["gpt-*"]), above("Middle", 1.4, [])];

  test("every list that is not empty, and the highest Rates", () => {
    const own = { name: "Own", items: ["gpt-4o"] };
    expect(listsThatHold("AllowModels", own, chain).map(({ name }) => name)).toEqual(["Top", "Own"]);
    expect(highestRates(chain)?.name).toBe("Middle");
    expect(highestRates([])).toBeNull();
  });
});

describe("a transfer", () => {
  const facts = { amount: usd(3.5), days: 10, balance: usd(10), nowMs: Date.UTC(2027, 2, 18, 14) };

  test("has a line on either side, and what comes in expires", () => {
    const { account, above } = transferPlan({ ...facts, kind: "give", above: usd(100) });
    expect([account.after, above!.after]).toEqual([usd(13.5), usd(96.5)]);
    expect([account.line, account.expires, above!.line, above!.expires]).toEqual([
      ...["transfer_in", "2027-03-28", "transfer_out", null],
    ]);
  });

  test("has days that the service takes, and 180 where none are typed", () => {
    expect(["", "1", " 36500 "].map(validityDays)).toEqual([180, 1, 36_500]);
    for (const typed of ["-999999999", "0", "36501", "1.5", "ten"]) expect(validityDays(typed)).toBeNull();
  });

  test("is a grant where Root makes the credit, and a refund where it is taken back", () => {
    const given = transferPlan({ ...facts, kind: "give", above: null });
    expect([given.account.line, given.above]).toEqual(["grant", null]);
    const taken = transferPlan({ ...facts, kind: "take", above: usd(1) });
    expect([taken.account.after, taken.above!.after]).toEqual([usd(6.5), usd(4.5)]);
    expect([taken.account.line, taken.above!.line, taken.above!.expires]).toEqual([
      ...["refund", "refund", "2027-09-14"],
    ]);
  });
});

test("a transfer adds an entry of credit, or takes those that expire first", () => {
  const facts = { amount: usd(5), days: 10, nowMs: Date.UTC(2027, 2, 18) };
  const entries = [
    { amount: usd(6), expires_at: "2027-06-01T00:00:00.000Z" },
    { amount: usd(4), expires_at: "2027-04-01T00:00:00.000Z" },
  ];
  expect(creditAfter(entries, { ...facts, kind: "give" })).toEqual([
    ...entries,
    { amount: usd(5), expires_at: "2027-03-28T00:00:00.000Z" },
  ]);
  expect(creditAfter(entries, { ...facts, kind: "take" })).toEqual([
    { amount: usd(5), expires_at: "2027-06-01T00:00:00.000Z" },
  ]);
});

test.each([
  [20, 0.2, 19.8, 0],
  [0.1, 0.1, 0, 0],
  [0, 0, 0, 0],
  [-2.5, 0, 0, 2.5],
])(
  "a deletion at a balance of %d has a fee of %d, refunds %d, writes %d off",
  (balance, fee, refund, writeOff) => {
    expect(deletionOf(usd(balance))).toEqual({ fee: usd(fee), refund: usd(refund), writeOff: usd(writeOff) });
  },
);

test("states have words of their own, and models at a limit are named", () => {
  expect([
    accountStateOf("tpm_exceeded"),
    accountStateOf("account_suspended"),
    accountStateOf("other"),
  ]).toEqual([...(["rate", "suspended", null] as const)]);
  const of = (model: string, used: number, scope = "model") =>
    ({ scope, name: "rpm", model, limit: usd(5), used: usd(used), resets_at: null }) as never;
  expect(reachedModels({ windows: [of("a", 5), of("b", 4), of("c", 6, "api_key")] })).toEqual([
    { model: "a", name: "rpm", resetsAt: null },
  ]);
});
