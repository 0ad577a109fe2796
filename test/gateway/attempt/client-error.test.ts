// The error of a request that no key answered, a row for each rule: by the last signal, or, when nothing could be tried,
// by what the keys wait for.

import { describe, expect, test } from "bun:test";
import type { AttemptRow } from "../../../actors/account/state.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import {
  clientErrorFor,
  keyAvailability,
  type LastFailure,
} from "../../../src/gateway/attempt/client-error.ts";
import { httpError } from "../../../src/http/errors.ts";
import type { FailureKind, UpstreamFailure } from "../../../src/upstream/upstream-failure.ts";
import { NOON } from "../../runtime/manual-clock.ts";
import { type KeyGiven, keyId, resting, sleeping, viewOf, WAKING, without } from "../level-samples.ts";
import { servesIn } from "../request-samples.ts";

const PASS = { status: 422, message: "too odd", type: "invalid_request_error", code: "odd" };
const met = (name: FailureKind, more: Partial<UpstreamFailure> = {}): UpstreamFailure => ({
  name,
  status: 500,
  note: "",
  ...more,
});
const limited = (seconds: number): UpstreamFailure => met("rate_limited", { retryAfterMs: seconds * 1_000 });
const NO_PATH = met("path_missing", { status: 404 });
const NO_MODEL = met("model_unavailable", { pass: { ...PASS, status: 404 } });

type Keys = readonly (number | KeyGiven)[];
const placesOf = (...levels: Keys[]): { view: LevelView; model: string }[] =>
  levels.map((keys, i) => ({ view: viewOf(i + 1, keys), model: "m" }));

/** `503 no_available_key 30`: status, code, retry-after, and `final` when the client must not repeat it. */
function said(failure: LastFailure): string {
  if ("rejection" in failure) return `${failure.rejection.status} ${failure.rejection.code}`;
  const { status, code, headers } = httpError(failure.refusal);
  const final = headers["x-should-retry"] === "false" ? "final" : "";
  return [status, code, headers["retry-after"] ?? "", final].filter((part) => part !== "").join(" ");
}

/** The n-th attempt was made with key n. */
const rowsOf = (signals: readonly UpstreamFailure[]): AttemptRow[] =>
  signals.map(({ name, status }, i) => ({
    key: keyId(i + 1),
    level: 1,
    model: "m",
    status,
    signal: name,
    ms: 5,
  }));

const AT_CHAT = { model: "m", path: "/v1/chat/completions" };
const clientError = (signals: readonly UpstreamFailure[], ...levels: Keys[]): string =>
  said(
    clientErrorFor(
      signals,
      AT_CHAT,
      keyAvailability("/v1/chat/completions", placesOf(...levels), servesIn("chat"), NOON, rowsOf(signals)),
    ),
  );

describe("when all tries failed, the last signal speaks", () => {
  /** The signal; what the client gets from keys that are all well otherwise. */
  const ROWS: readonly [FailureKind, string][] = [
    ["timeout", "504 upstream_timeout"],
    ["quota_gone", "503 no_available_key"],
    ["overloaded", "503 no_available_key"],
    ["rate_limited", "429 upstream_rate_limited 1"],
    ["too_big_for_tpm", "429 upstream_rate_limited final"],
    ["invalid_key", "502 upstream_failed"],
    ["no_permission", "502 upstream_failed"],
    ["server_error", "502 upstream_failed"],
    ["unreachable", "502 upstream_failed"],
    ["error_body", "502 upstream_failed"],
    ["empty_stream", "502 upstream_failed"],
    ["redirect", "502 upstream_failed"],
  ];
  test.each(ROWS)("%s: %s", (name, expected) => {
    expect(clientError([met(name)], [1])).toBe(expected);
    expect(clientError([met("server_error"), met("timeout"), met(name)], [1, 2, 3])).toBe(expected);
  });

  test.each(["rejected", "conflict"] as const)("%s: the provider's own words, with its status", (name) => {
    expect(clientError([met("server_error"), met(name, { pass: PASS })], [1, 2])).toBe("422 odd");
  });

  test("but that a key does not have the model is not the last word of others", () => {
    expect(clientError([met("timeout"), NO_MODEL], [1, 2])).toBe("504 upstream_timeout");
    expect(clientError([NO_MODEL, met("server_error")], [1, 2])).toBe("502 upstream_failed");
  });
});

describe("retry-after", () => {
  /** The case; the signals; the keys; the client's error. */
  // biome-ignore format: a table
  const ROWS: readonly [string, readonly UpstreamFailure[], Keys, string][] = [
    ["is what the provider said", [limited(7)], [1], "429 upstream_rate_limited 7"],
    ["above half a minute is the true wait, and final", [limited(90)], [1], "429 upstream_rate_limited 90 final"],
    ["is at least a second", [limited(0.2)], [1], "429 upstream_rate_limited 1"],
    ["is rounded up", [limited(2.1)], [1], "429 upstream_rate_limited 3"],
    ["is the smallest of those met", [limited(9), limited(4), limited(20)], [1, 2, 3], "429 upstream_rate_limited 4"],
    ["is the smallest, whichever key had it earlier", [limited(20)], [1, { id: 2, health: resting(5) }], "429 upstream_rate_limited 5"],
    ["is the smallest, also when only this request met it", [limited(5)], [1, { id: 2, health: resting(20) }], "429 upstream_rate_limited 5"],
    ["does not heed sleeps when keys rest", [limited(9)], [1, { id: 2, health: sleeping(3) }], "429 upstream_rate_limited 9"],
    ["is the soonest wake when the quota is gone", [met("quota_gone")], [{ id: 1, health: sleeping(1_800) }, { id: 2, health: sleeping(300) }], "503 no_available_key 300 final"],
    ["is not sent while a key is awake", [met("overloaded")], [1, { id: 2, health: sleeping(300) }], "503 no_available_key"],
    ["is not sent while a key is waking", [met("overloaded")], [{ id: 1, health: WAKING }, { id: 2, health: sleeping(300) }], "503 no_available_key"],
    ["is not sent with a timeout", [met("timeout")], [{ id: 1, health: sleeping(300) }], "504 upstream_timeout"],
  ];
  test.each(ROWS)("%s", (_, signals, keys, expected) => {
    expect(clientError(signals, keys)).toBe(expected);
  });
});

describe("when nothing could be tried, the keys speak", () => {
  const rests = (id: number, seconds: number): KeyGiven => ({ id, health: resting(seconds) });
  const sleeps = (id: number, seconds: number): KeyGiven => ({ id, health: sleeping(seconds) });
  const lacks = (id: number): KeyGiven => ({ id, health: without("m") });

  // biome-ignore format: a table

  const ROWS: readonly [string, readonly Keys[], string][] = [
    ["all disabled", [[{ id: 1, disabled: true }]], "503 no_available_key"],
    ["no key at all", [[]], "503 no_available_key"],
    ["all asleep: the soonest wake", [[sleeps(1, 900), sleeps(2, 25)]], "503 no_available_key 25"],
    ["all resting: the smallest rest", [[rests(1, 9), rests(2, 3)]], "429 upstream_rate_limited 3"],
    ["one resting, the others asleep: the rest", [[rests(1, 9), sleeps(2, 3)]], "429 upstream_rate_limited 9"],
    ["one resting, the others without the model: the rest", [[rests(1, 9), lacks(2)]], "429 upstream_rate_limited 9"],
    ["one resting, the others disabled: the rest", [[rests(1, 9), { id: 2, disabled: true }]], "429 upstream_rate_limited 9"],
    ["all without the model", [[lacks(1), lacks(2)]], "404 model_not_found"],
    ["all without the model, those disabled not asked", [[lacks(1), { id: 2, disabled: true }]], "404 model_not_found"],
    ["one without the model, the other asleep", [[lacks(1), sleeps(2, 25)]], "503 no_available_key 25"],
    ["on every Level of the way: the smallest rest", [[rests(1, 9)], [rests(2, 4)]], "429 upstream_rate_limited 4"],
    ["without the model on every Level of the way", [[lacks(1)], [lacks(2)]], "404 model_not_found"],
    ["without the model on one Level, asleep on the other", [[lacks(1)], [sleeps(2, 25)]], "503 no_available_key 25"],
  ];
  test.each(ROWS)("%s", (_, levels, expected) => {
    expect(clientError([], ...levels)).toBe(expected);
  });
});

describe("404 only when every key says so", () => {
  /** What; the signals of this request; the keys as their Level knows them, which may not have heard yet. */
  // biome-ignore format: a table
  const ROWS: readonly [string, readonly UpstreamFailure[], Keys, string][] = [
    ["the only key, just now", [NO_MODEL], [1], "404 model_not_found"],
    ["both, just now", [NO_MODEL, NO_MODEL], [1, 2], "404 model_not_found"],
    ["one just now, the other before", [NO_MODEL], [1, { id: 2, health: without("m") }], "404 model_not_found"],
    ["both, and their Level has heard of one", [NO_MODEL, NO_MODEL], [1, { id: 2, health: without("m") }], "404 model_not_found"],
    ["one just now, the other asleep", [NO_MODEL], [1, { id: 2, health: sleeping(25) }], "503 no_available_key 25"],
    ["one just now, the other resting", [NO_MODEL], [1, { id: 2, health: resting(6) }], "429 upstream_rate_limited 6"],
    ["three of four, as many as are tried", [NO_MODEL, NO_MODEL, NO_MODEL], [1, 2, 3, 4], "503 no_available_key"],
    ["one just now, the other without another model", [NO_MODEL], [1, { id: 2, health: without("other") }], "503 no_available_key"],
    ["one just now, a disabled one not asked", [NO_MODEL], [1, { id: 2, disabled: true }], "404 model_not_found"],
  ];
  test.each(ROWS)("%s", (_, signals, keys, expected) => {
    expect(clientError(signals, keys)).toBe(expected);
  });
});

describe("keys of the other style", () => {
  const other: KeyGiven = { id: 1, style: "messages" };

  test("alone: the error names the path to ask", () => {
    const at = { model: "m", path: "/v1/responses" };
    const expected = clientErrorFor(
      [],
      at,
      keyAvailability("/v1/chat/completions", placesOf([other]), servesIn("chat"), NOON),
    );
    expect(said(expected)).toBe("400 invalid_parameter");
    const words = JSON.stringify(expected);
    expect(words).toContain("at /v1/responses, and they are not translated");
    expect(words).toContain("/v1/chat/completions or /v1/messages");
  });

  test("alone, of a request that cannot be put into their style: the error says why", () => {
    const untranslated = { code: "invalid_parameter", message: "n must be 1." } as const;
    const found = keyAvailability("/v1/chat/completions", placesOf([other]), servesIn("chat"), NOON);
    expect(clientErrorFor([], { ...AT_CHAT, untranslated }, found)).toEqual({ refusal: untranslated });
    const beside = keyAvailability(
      "/v1/chat/completions",
      placesOf([other, { id: 2, health: resting(3) }]),
      servesIn("chat"),
      NOON,
    );
    expect(said(clientErrorFor([], { ...AT_CHAT, untranslated }, beside))).toBe(
      "429 upstream_rate_limited 3",
    );
  });

  test("alone, which a key turned out to be when its host lacked the path: the error says why", () => {
    const untranslated = { code: "invalid_parameter", message: "store must not be true." } as const;
    const found = keyAvailability("/v1/chat/completions", placesOf([other]), servesIn("chat"), NOON);
    const at = { ...AT_CHAT, untranslated };
    expect(clientErrorFor([NO_PATH], at, found)).toEqual({ refusal: untranslated });
    expect(said(clientErrorFor([met("timeout"), NO_PATH], at, found))).toBe("504 upstream_timeout");
  });

  test("say nothing beside keys that fit", () => {
    expect(clientError([], [other, { id: 2, health: resting(3) }])).toBe("429 upstream_rate_limited 3");
    expect(clientError([NO_MODEL], [1, { ...other, id: 2 }])).toBe("404 model_not_found");
  });

  test("that are disabled are nobody", () => {
    expect(clientError([], [{ ...other, disabled: true }])).toBe("503 no_available_key");
  });
});

test("no message has a key, a Level or a provider's words, but those about the content", () => {
  for (const name of ["timeout", "quota_gone", "rate_limited", "server_error", "invalid_key"] as const) {
    const expected = clientErrorFor(
      [met(name, { note: "sk-secret" })],
      AT_CHAT,
      keyAvailability("/v1/chat/completions", placesOf([1]), servesIn("chat"), NOON),
    );
    expect(JSON.stringify(expected)).not.toMatch(/sk-|example\.com|Level/);
  }
});
