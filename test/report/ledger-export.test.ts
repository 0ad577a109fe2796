// What a line of the export says, as JSON and as CSV.

import { expect, test } from "bun:test";
import type { AccountId } from "../../actors/ids.ts";
import { type ExportedLine, FORMATS } from "../../src/report/ledger-export.ts";
import type { LineEvent } from "../../src/report/ledger-lines.ts";
import { factsOf, NOON, usd } from "../actors/account-samples.ts";

const lineOf = (event: LineEvent): ExportedLine => ({
  account: 7,
  name: "seven",
  number: 3,
  at: NOON,
  event,
});

const FACTS = {
  ...factsOf({ id: "charge-1", request: "request-1", tags: { team: "search" }, answeredModel: "other" }),
  amount: usd(-0.5),
  balanceAfter: usd(-0.5),
};

test.each(["charge", "late_charge"] as const)(
  "a %s says which request it was for, and what that used",
  (type) => {
    const line = lineOf({ type, ...FACTS });
    expect(JSON.parse(FORMATS.jsonl.line(line))).toEqual({
      ...{ account: 7, name: "seven", line: 3, at: "2026-01-15T12:00:00.000Z", id: "charge-1", type },
      ...{ amount: -0.5, balance_after: -0.5, other: null, request_id: "request-1" },
      ...{ path: "/v1/chat/completions", model: "m", answered_model: "other", level: 0, basis: "provider" },
      ...{ prompt_tokens: 10, completion_tokens: 20, stream: false, api_key: 0, api_key_name: "main" },
      tags: "team=search",
    });
    expect(FORMATS.csv.line(line)).toBe(
      `7,seven,3,2026-01-15T12:00:00.000Z,charge-1,${type},-0.5,-0.5,,request-1,/v1/chat/completions,m,other,0,provider,10,20,false,0,main,team=search\n`,
    );
  },
);

test("a line of no request leaves what belongs to requests empty", () => {
  const line = lineOf({
    ...{ type: "transfer_in", id: "X", from: 2 as AccountId },
    ...{ amount: usd(5), balanceAfter: usd(5), expiresAt: NOON },
  });
  expect(FORMATS.csv.line(line)).toBe("7,seven,3,2026-01-15T12:00:00.000Z,X,transfer_in,5,5,2,,,,,,,,,,,,\n");
});
