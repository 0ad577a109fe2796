// The judge must be able to find fault: cases that came out right, each spoilt in one way, and the rule that says so.
// And the one proof that is asked of the service: that a hold shows while it is there.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Account, type Bench, MODEL, startBench, until } from "../e2e/harness.ts";
import { CREDIT, isFree } from "./ask.ts";
import { isAsExpected } from "./become.ts";
import { CLIENTS, type ReadStream, SAID } from "./client.ts";
import { judge, type Observed } from "./judge.ts";
import {
  answered,
  type Case,
  casesOf,
  counted,
  cut,
  FAILED,
  passed,
  refused,
  SLEEPS,
  titleOf,
} from "./rows.ts";
import { ROWS, unknown, unlisted } from "./table.ts";

const USAGE = {
  prompt: 486,
  completion: 12,
  cached: 20,
  cacheWrite: 10,
  cacheWrite1h: 0,
  audioIn: 0,
  imageIn: 0,
  searches: 0,
  reasoning: 4,
  audioOut: 0,
};
/** 456 plain, 20 cached, 10 written, 8 said, 4 thought. */
const USD = (456_000 + 20 * 500 + 10 * 1_250 + 8 * 2_000 + 4 * 4_000) / 1e9;
const CALL = { usage: USAGE, outcome: "complete" } as unknown as Observed["calls"][number];

const caseOf = (how: Case["how"], expected: Case["expected"]): Case => ({
  name: "some fault",
  script: "fault=some",
  style: "chat",
  speaks: "chat",
  how,
  keys: 1,
  expected,
});

const WHOLE_STREAM: ReadStream = {
  words: SAID,
  error: null,
  closed: true,
  unreadable: null,
  cost: USD.toFixed(9),
};

const ANSWER: Observed = {
  one: caseOf("streamed", answered()),
  tag: "case-1",
  owner: { id: 2, key: "", name: "", secrets: [], keys: [] },
  response: {
    status: 200,
    headers: new Headers({ "x-arbor-attempts": "1" }),
    text: "data: [DONE]\n\n",
    body: undefined,
    stream: WHOLE_STREAM,
  },
  charges: [{ amount: -USD, basis: "provider", prompt_tokens: 486, completion_tokens: 12 }],
  balance: CREDIT - USD,
  released: true,
  keys: ["well"],
  calls: [CALL],
};

const COUNTED: Observed = {
  ...ANSWER,
  one: caseOf("streamed", counted()),
  response: { ...ANSWER.response, stream: { ...WHOLE_STREAM, cost: "0.000504" } },
  charges: [{ amount: -0.000504, basis: "estimate", prompt_tokens: 480, completion_tokens: 12 }],
  balance: CREDIT - 0.000504,
};

const CUT: Observed = {
  ...ANSWER,
  one: caseOf("streamed", cut(2)),
  response: {
    ...ANSWER.response,
    stream: { ...WHOLE_STREAM, words: SAID.slice(0, 2), error: FAILED[1], closed: false, cost: null },
  },
  charges: [{ amount: -0.000484, basis: "partial", prompt_tokens: 480, completion_tokens: 2 }],
  balance: CREDIT - 0.000484,
  keys: ["1 failure"],
  calls: [{ ...CALL, usage: { ...USAGE, completion: 3 } }],
};

const REFUSED: Observed = {
  ...ANSWER,
  one: caseOf("whole", refused(FAILED, SLEEPS, { retryAfterS: 7, final: true })),
  response: {
    ...ANSWER.response,
    status: 502,
    headers: new Headers({ "x-arbor-attempts": "1", "retry-after": "7", "x-should-retry": "false" }),
    text: "{}",
    body: { error: { message: "It failed.", type: "upstream_error", code: FAILED[1] } },
    stream: null,
  },
  charges: [],
  balance: CREDIT,
  keys: [SLEEPS],
  calls: [{ ...CALL, usage: null }],
};

const said = (from: Observed, stream: Partial<ReadStream>): Observed => ({
  ...from,
  response: { ...from.response, stream: { ...from.response.stream!, ...stream } },
});
const received = (from: Observed, response: Partial<Observed["response"]>): Observed => ({
  ...from,
  response: { ...from.response, ...response },
});
const charged = (from: Observed, charge: object): Observed => ({
  ...from,
  charges: [{ ...from.charges[0], ...charge }],
});
const error = (more: object) => ({ error: { ...REFUSED.response.body.error, ...more } });

test.each([
  ["an answer", ANSWER],
  ["a counted answer", COUNTED],
  ["a cut answer", CUT],
  ["a refusal", REFUSED],
])("%s that came out as expected is green", (_what, seen) => {
  expect(judge(seen)).toEqual([]);
});

describe("the judge finds", () => {
  test.each<[string, Observed, string]>([
    ["an error in place of an answer", received(ANSWER, { status: 502, stream: null }), "client"],
    ["a stream that was to be whole", { ...ANSWER, one: caseOf("whole", answered()) }, "client"],
    ["a word that is missing", said(ANSWER, { words: SAID.slice(1) }), "client"],
    ["an error event in a good answer", said(ANSWER, { error: FAILED[1] }), "client"],
    ["a good answer that is not closed", said(ANSWER, { closed: false }), "closing"],
    ["a cut answer that is closed", said(CUT, { closed: true }), "closing"],
    ["a cut answer without its error", said(CUT, { error: null }), "client"],
    ["another error in a cut answer", said(CUT, { error: "upstream_timeout" }), "client"],
    ["a cut answer of other words", said(CUT, { words: ["year", "time"] }), "client"],
    ["what the SDK cannot read", said(ANSWER, { unreadable: "SyntaxError" }), "readable"],
    ["another status", received(REFUSED, { status: 503 }), "client"],
    ["another code", received(REFUSED, { body: error({ code: "no_available_key" }) }), "client"],
    ["an error with a field too many", received(REFUSED, { body: error({ details: null }) }), "client"],
    ["an error without words", received(REFUSED, { body: error({ message: "" }) }), "client"],
    [
      "another wait",
      received(REFUSED, {
        headers: new Headers({ "x-arbor-attempts": "1", "retry-after": "9", "x-should-retry": "false" }),
      }),
      "client",
    ],
    [
      "no word against trying again",
      received(REFUSED, { headers: new Headers({ "x-arbor-attempts": "1", "retry-after": "7" }) }),
      "client",
    ],
    [
      "other words than the provider's",
      {
        ...received(REFUSED, { status: 400, body: error({ code: "invalid_type" }) }),
        one: { ...caseOf("whole", passed(400, "invalid_type")), name: "400" },
        keys: ["well"],
      },
      "client",
    ],
    ["more attempts", received(ANSWER, { headers: new Headers({ "x-arbor-attempts": "2" }) }), "attempts"],
    ["more calls than attempts", { ...ANSWER, calls: [CALL, CALL] }, "calls"],
    ["a key that became something else", { ...REFUSED, keys: ["1 failure"] }, "key"],
    ["a key nobody knows of", { ...ANSWER, keys: ["well", "well"] }, "key"],
    ["a charge for nothing", { ...REFUSED, charges: ANSWER.charges, balance: ANSWER.balance }, "charge"],
    ["an answer for nothing", { ...ANSWER, charges: [], balance: CREDIT }, "charge"],
    ["two charges", { ...ANSWER, charges: [...ANSWER.charges, ...ANSWER.charges] }, "charge"],
    ["another basis", charged(ANSWER, { basis: "estimate" }), "charge"],
    ["a nano-dollar too many", charged(ANSWER, { amount: -USD - 1e-9 }), "charge"],
    ["a prompt six per cent too large", charged(COUNTED, { prompt_tokens: 516 }), "charge"],
    ["an output six per cent too small", charged(COUNTED, { completion_tokens: 11 }), "charge"],
    ["counted tokens at another price", charged(COUNTED, { amount: -0.000505 }), "charge"],
    ["a cut answer charged beyond what came", charged(CUT, { completion_tokens: 3 }), "charge"],
    [
      "a cut answer far behind what was generated",
      { ...CUT, calls: [{ ...CALL, usage: { ...USAGE, completion: 9 } }] },
      "charge",
    ],
    ["a charge for what nobody generated", { ...ANSWER, calls: [{ ...CALL, usage: null }] }, "charge"],
    ["another cost than was charged", said(ANSWER, { cost: "0.000512" }), "cost"],
    ["a cost that was not sent", said(ANSWER, { cost: null }), "cost"],
    ["another balance", { ...ANSWER, balance: CREDIT }, "balance"],
    ["something still held", { ...ANSWER, released: false }, "hold"],
    ["a name of the provider's account", received(ANSWER, { text: "in org-standin" }), "secrets"],
  ])("%s", (_what, seen, rule) => {
    expect(judge(seen).map((wrong) => wrong.split(":")[0])).toContain(rule);
  });

  test("a second key that suffered", () => {
    const one = { ...ANSWER.one, keys: 2 as const };
    expect(judge({ ...ANSWER, one, keys: ["well", "well"] })).toEqual([]);
    expect(judge({ ...ANSWER, one, keys: ["well", "1 failure"] })).toHaveLength(1);
  });
});

test.each([
  ["rests 7 s", "rests 7 s", true],
  ["rests 7 s", "rests 6 s", false],
  ["rests ~3 s", "rests 2 s", true],
  ["rests ~3 s", "rests 5 s", false],
  ["well", "well, rests 1 s", false],
])("expected %s, became %s: %p", (expected, became, agrees) => {
  expect(isAsExpected(expected, became)).toBe(agrees);
});

describe("the table", () => {
  test("has a row for every fault, refusal, form of usage and wait of the stand-in", () => {
    expect(unlisted()).toEqual([]);
  });

  test("has no row for what the stand-in does not know", () => {
    expect(unknown()).toEqual([]);
  });

  test.each(["README.md", "docs/faults.md"])("opens into as many cases as %s states", async (page) => {
    const text = await Bun.file(new URL(`../../${page}`, import.meta.url)).text();
    const stated = [...text.matchAll(/([\d,]+) cases/g)].map(([, figure]) => figure);
    expect(stated).toEqual([casesOf(ROWS).length.toLocaleString("en-US")]);
  });

  test("opens a row of foreign reasoning at the one kind of key that gets it", () => {
    const foreign = casesOf(ROWS).filter(({ speaks }) => speaks === "responses");
    expect(foreign.map(titleOf)).toEqual([
      "organization=south, responses, whole",
      "organization=south, responses, streamed",
      "400.encrypted, responses, whole",
      "400.encrypted, responses, whole, a second key",
      "400.encrypted, responses, streamed",
      "400.encrypted, responses, streamed, a second key",
    ]);
  });

  test("misses what has no row", () => {
    expect(unlisted([])).toContain("cut");
    expect(unlisted([])).toContain("usage=garbage");
    expect(unknown([{ name: "flood", script: "", sheet: answered() }])).toEqual(["flood"]);
  });
});

describe("a hold", () => {
  let bench: Bench;
  let user: Account;
  beforeAll(async () => {
    bench = await startBench();
    user = await bench.subaccount(await bench.owner(), { CreditGranted: CREDIT });
  });
  afterAll(() => bench.close());

  test("shows while its request runs, and not afterwards", async () => {
    const { path, body } = CLIENTS.chat;
    const slow = [{ role: "user", content: "[[output=1 head_ms=3000]]" }];
    const running = bench.call(user.key, "POST", path, { ...body("slow"), model: MODEL, messages: slow });
    await until("the request is under way", () => bench.provider.inFlight() === 1);
    expect(await isFree(bench, user, "chat")).toBe(false);
    expect((await running).status).toBe(200);
    expect(await isFree(bench, user, "chat")).toBe(true);
  });
});
