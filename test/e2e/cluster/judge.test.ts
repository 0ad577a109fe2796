// The judge finds what is planted for it: an answer that is not booked, one that is booked twice or at another price, a
// booking that nobody asked for or whose client was refused.

import { describe, expect, test } from "bun:test";
import type { Json } from "../harness.ts";
import type { Attempt } from "./attempt.ts";
import { comparedCharges } from "./judge.ts";

const attempt = (id: string, over: Partial<Attempt> = {}): Attempt => ({
  id,
  intent: id,
  user: { id: 2, key: "sk-x", name: "user" },
  kind: "whole",
  to: "http://node",
  startedAt: 0,
  endedAt: 1,
  takesMs: 1,
  status: 200,
  code: "",
  slowStore: false,
  complete: true,
  cost: "0.00001",
  ...over,
});

const BROKEN = { complete: false, cost: null } as const;
const REFUSED = { ...BROKEN, status: 503, code: "service_unavailable" } as const;
const BALANCER = { ...BROKEN, status: 502, code: "<html><body><h1>502 Bad Gateway" } as const;

const line = (request_id: string, amount = -0.00001): Json => ({ type: "charge", request_id, amount });

describe("the books agree", () => {
  test.each<[string, Attempt[], Json[]]>([
    ["a whole answer, booked once at its price", [attempt("1")], [line("1")]],
    ["a refusal, not booked", [attempt("1", REFUSED)], []],
    ["a cut stream, booked", [attempt("1", { ...BROKEN, code: "cut" })], [line("1")]],
    ["a cut stream, not booked", [attempt("1", { ...BROKEN, code: "cut" })], []],
    ["no answer, booked", [attempt("1", { ...BROKEN, status: 0 })], [line("1")]],
    ["the balancer's word, booked", [attempt("1", BALANCER)], [line("1")]],
    [
      "a repeat that got the answer of the first, whose line is the only one",
      [attempt("1", { ...BROKEN, status: 0, intent: "x" }), attempt("2", { intent: "x" })],
      [line("1")],
    ],
    [
      "a repeat of a stream that was delivered to nobody",
      [
        attempt("1", { ...BROKEN, intent: "x" }),
        attempt("2", { ...BROKEN, status: 400, code: "idempotency_expired", intent: "x" }),
      ],
      [line("1")],
    ],
  ])("%s", (_, attempts, lines) => {
    expect(comparedCharges(attempts, lines)).toEqual([]);
  });
});

describe("the books do not agree", () => {
  test.each<[string, Attempt[], Json[], RegExp]>([
    ["an answer that is not booked", [attempt("1")], [], /is booked 0 times/],
    ["an answer that is booked twice", [attempt("1")], [line("1"), line("1")], /is booked 2 times/],
    ["another price", [attempt("1")], [line("1", -0.00002)], /was told 0.00001, booked is -0.00002/],
    ["a booking that nobody asked for", [], [line("1")], /nobody asked for it/],
    ["a refusal that is booked", [attempt("1", REFUSED)], [line("1")], /booked is what/],
    [
      "a repeat that is booked again",
      [attempt("1", { ...BROKEN, status: 0, intent: "x" }), attempt("2", { intent: "x" })],
      [line("1"), line("2")],
      /is booked 2 times/,
    ],
    [
      "a repeat that is told it is over when it never was",
      [attempt("1", { ...BROKEN, status: 400, code: "idempotency_expired" })],
      [],
      /is booked 0 times/,
    ],
    ["a fortune", [attempt("1", { ...BROKEN, status: 0 })], [line("1", -3)], /is booked at -3/],
  ])("%s", (_, attempts, lines, found) => {
    expect(comparedCharges(attempts, lines).join("\n")).toMatch(found);
  });
});
