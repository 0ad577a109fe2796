// Tokens of service accounts: what is signed, how long a token is used, who waits for the next one, and what a refused
// exchange means. Time is the test's own.

import { describe, expect, test } from "bun:test";
import { exportPKCS8, generateKeyPair, jwtVerify } from "jose";
import { responseOf } from "../../src/upstream/fetch-transport.ts";
import type { Connect, ConnectRequest } from "../../src/upstream/http-client.ts";
import { createTokens } from "../../src/upstream/service-account-token.ts";
import type { FailureKind } from "../../src/upstream/upstream-failure.ts";
import { manualClock } from "../runtime/manual-clock.ts";
import { PEM } from "./rig.ts";

const URL_ = "https://tokens.example/token";
const pair = await generateKeyPair("RS256", { extractable: true });
const ACCOUNT = { email: "robot@p-1.example", pem: await exportPKCS8(pair.privateKey) };
const OTHER = { email: ACCOUNT.email, pem: PEM };
const MINUTE = 60_000;

type Answer = () => Response | Promise<Response>;
const good =
  (token: string, expires_in = 3_599): Answer =>
  () =>
    Response.json({ access_token: token, expires_in });

/** Answers in order, the last one again and again. */
function rig(...answers: Answer[]) {
  const clock = manualClock();
  const calls: ConnectRequest[] = [];
  const connect: Connect = async (_target, call) => {
    const answer = answers[Math.min(calls.length, answers.length - 1)]!;
    calls.push(call);
    return responseOf(await answer());
  };
  const tokens = createTokens({ connect, clock, url: URL_ });
  const never = new AbortController().signal;
  const of = async (account = ACCOUNT, signal = never) => tokens.of(account, signal);
  return { clock, calls, tokens, of };
}

/** Resolves once everything that can go on has: signing runs beside the event loop. */
const settled = async (holds: () => boolean): Promise<void> => {
  for (let i = 0; i < 2_000 && !holds(); i++) await Bun.sleep(1);
  expect(holds()).toBe(true);
};

describe("the statement", () => {
  test("is signed by the account's key, for this address, from now for an hour", async () => {
    const { clock, calls, of } = rig(good("t"));
    await of();
    const form = new URLSearchParams(String(calls[0]!.body));
    expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
    const currentDate = new Date(clock.wall());
    const { payload, protectedHeader } = await jwtVerify(form.get("assertion")!, pair.publicKey, {
      currentDate,
    });
    const iat = Math.floor(clock.wall() / 1_000);
    expect(protectedHeader).toEqual({ alg: "RS256", typ: "JWT" });
    expect(payload).toEqual({
      iss: ACCOUNT.email,
      scope: "https://www.googleapis.com/auth/cloud-platform",
      aud: URL_,
      iat,
      exp: iat + 3_600,
    });
  });
  test("travels as a form", async () => {
    const { calls, of } = rig(good("t"));
    await of();
    expect(calls[0]).toMatchObject({
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  });
  test("is signed by a key whose line breaks are written out", async () => {
    const { of } = rig(good("t"));
    expect(await of({ ...ACCOUNT, pem: ` ${ACCOUNT.pem.replaceAll("\n", "\\n")}\\n` })).toBe("t");
  });
});

describe("a token", () => {
  test("is asked for once, and given at once from then on", async () => {
    const { calls, of, tokens } = rig(good("t"));
    expect(await of()).toBe("t");
    expect(tokens.of(ACCOUNT, new AbortController().signal)).toBe("t");
    expect(calls.length).toBe(1);
  });
  test("is asked for once by all who come at the same time", async () => {
    const { calls, of } = rig(good("t"));
    expect(await Promise.all(Array.from({ length: 20 }, () => of()))).toEqual(Array(20).fill("t"));
    expect(calls.length).toBe(1);
  });
  test("is another account's as little as another key's", async () => {
    const { calls, of } = rig(good("a"), good("b"), good("c"));
    expect([await of(), await of(OTHER), await of({ ...ACCOUNT, email: "x@y.example" })]).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(calls.length).toBe(3);
  });
  test("is used until five minutes before its end", async () => {
    const { clock, calls, of } = rig(good("a"), good("b"));
    await of();
    await clock.advance(3_599_000 - 5 * MINUTE - 1);
    expect(await of()).toBe("a");
    expect(calls.length).toBe(1);
  });
  test("is renewed from then on, and nobody waits for that", async () => {
    const { clock, calls, of, tokens } = rig(good("a"), good("b"));
    await of();
    await clock.advance(3_599_000 - 5 * MINUTE);
    expect(tokens.of(ACCOUNT, new AbortController().signal)).toBe("a");
    await settled(() => calls.length === 2);
    await settled(() => tokens.of(ACCOUNT, new AbortController().signal) === "b");
    expect(calls.length).toBe(2);
  });
  test("that could not be renewed is used to its end, and asked for no more than every ten seconds", async () => {
    const { clock, calls, of } = rig(good("a"), () => new Response("", { status: 500 }), good("b"));
    await of();
    await clock.advance(3_599_000 - 5 * MINUTE);
    expect(await of()).toBe("a");
    // The exchange is over once nothing waits for its end any more.
    await settled(() => calls.length === 2 && clock.waiting === 0);
    await clock.advance(9_999);
    expect(await of()).toBe("a");
    await clock.advance(0);
    expect(calls.length).toBe(2);
    await clock.advance(1);
    expect(await of()).toBe("a");
    await settled(() => calls.length === 3);
  });
  test("that has ended is not used", async () => {
    const { clock, of } = rig(good("a"), good("b"));
    await of();
    await clock.advance(3_599_000);
    expect(await of()).toBe("b");
  });
  test("of a short life is renewed at half of it", async () => {
    const { clock, calls, of } = rig(good("a", 60), good("b", 60));
    await of();
    await clock.advance(29_999);
    expect(await of()).toBe("a");
    expect(calls.length).toBe(1);
    await clock.advance(1);
    expect(await of()).toBe("a");
    await settled(() => calls.length === 2);
  });
  test("without a life is taken to have an hour", async () => {
    const { clock, calls, of } = rig(() => Response.json({ access_token: "a" }));
    await of();
    await clock.advance(54 * MINUTE);
    expect(await of()).toBe("a");
    expect(calls.length).toBe(1);
  });
  test("that was refused is asked for anew", async () => {
    const { of, tokens } = rig(good("a"), good("b"));
    await of();
    tokens.drop(ACCOUNT, "a");
    expect(await of()).toBe("b");
  });
  test("that was refused is not the one that somebody has since", async () => {
    const { calls, of, tokens } = rig(good("a"), good("b"), good("c"));
    await of();
    tokens.drop(ACCOUNT, "a");
    await of();
    tokens.drop(ACCOUNT, "a");
    expect(await of()).toBe("b");
    expect(calls.length).toBe(2);
  });
  const others = (pem: string) => Array.from({ length: 1_000 }, (_, i) => ({ email: `${i}@x.example`, pem }));
  test("is forgotten when there are too many others", async () => {
    const { calls, of } = rig(good("a"));
    await of();
    await Promise.all(others(PEM).map((other) => of(other)));
    await of();
    expect(calls.length).toBe(1_002);
  });
  test("is not forgotten for those who get none, however many ask", async () => {
    const { calls, of } = rig(good("a"));
    await of();
    for (const other of others("no key")) await of(other);
    await of();
    expect(calls.length).toBe(1);
  });
});

describe("who waits", () => {
  const hanging: Answer = () => new Promise<Response>(() => {});
  test("waits no longer than the attempt, and the others wait on", async () => {
    const answer = Promise.withResolvers<Response>();
    const { of } = rig(() => answer.promise);
    const gone = new AbortController();
    const mine = of(ACCOUNT, gone.signal);
    const theirs = of();
    gone.abort();
    expect(await mine).toMatchObject({ ok: false, signal: { name: "client_gone" } });
    answer.resolve(Response.json({ access_token: "t" }));
    expect(await theirs).toBe("t");
  });
  test("until a deadline hears of a timeout", async () => {
    const { of } = rig(hanging);
    expect(await of(ACCOUNT, AbortSignal.timeout(20))).toMatchObject({
      ok: false,
      signal: { name: "timeout" },
    });
  });
  test("fails after thirty seconds without an answer", async () => {
    const clock = manualClock();
    let asked = false;
    const silent = createTokens({
      clock,
      url: URL_,
      connect: (_target, { signal }) => {
        asked = true;
        return new Promise((resolve) => {
          const timeout = { name: "timeout", status: 0, note: "TimeoutError" } as const;
          signal.addEventListener("abort", () => resolve({ ok: false, signal: timeout }));
        });
      },
    });
    const waiting = silent.of(ACCOUNT, new AbortController().signal);
    await settled(() => asked);
    await clock.advance(30_000);
    expect(await waiting).toMatchObject({ ok: false, signal: { name: "timeout" } });
  });
});

describe("a refused exchange is", () => {
  type Row = readonly [what: string, status: number, body: object | string, signal: FailureKind];
  // biome-ignore format: a table
  const ROWS: readonly Row[] = [
    ["a signature that does not hold", 400, { error: "invalid_grant", error_description: "Invalid JWT Signature." }, "invalid_key"],
    ["a clock that is wrong", 400, { error: "invalid_grant", error_description: "Invalid JWT: Token must be a short-lived token" }, "invalid_key"],
    ["an account that is not there", 400, { error: "invalid_grant", error_description: "Invalid grant: account not found" }, "invalid_key"],
    ["a client that is not known", 401, { error: "invalid_client", error_description: "The OAuth client was not found." }, "invalid_key"],
    ["a client that may not", 401, { error: "unauthorized_client" }, "invalid_key"],
    ["a request without words", 400, "", "invalid_key"],
    ["an address that is none", 404, "<html>", "unreachable"],
    ["too many exchanges", 429, { error: "rate_limit_exceeded" }, "rate_limited"],
    ["an address that broke", 500, { error: "internal_failure" }, "server_error"],
    ["an address that is not there", 503, "", "overloaded"],
    ["a redirect", 302, "", "redirect"],
    ["a good answer without a token", 200, { token_type: "Bearer" }, "server_error"],
    ["a token that cannot stand in a header", 200, { access_token: "a\nb" }, "server_error"],
    ["a good answer that is no JSON", 200, "<html>", "server_error"],
  ];
  test.each(ROWS)("%s", async (_, status, body, name) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const { of } = rig(() => new Response(text, { status }));
    const answer = await of();
    expect(answer).toMatchObject({
      ok: false,
      signal: { name, note: expect.stringMatching(/^token address: /) },
    });
    expect(answer).not.toHaveProperty("signal.pass");
  });
  test("no answer at all: what the network says", async () => {
    const clock = manualClock();
    const connect: Connect = async () => ({
      ok: false,
      signal: { name: "unreachable", status: 0, note: "ECONNREFUSED" },
    });
    const { of } = createTokens({ connect, clock, url: URL_ });
    expect(await of(ACCOUNT, new AbortController().signal)).toEqual({
      ok: false,
      signal: { name: "unreachable", status: 0, note: "token address: ECONNREFUSED" },
    });
  });
  test("reported without the statement", async () => {
    const { calls, of } = rig(() => {
      const statement = new URLSearchParams(String(calls[0]!.body)).get("assertion");
      return Response.json(
        { error: "invalid_grant", error_description: `Bad ${statement}` },
        { status: 400 },
      );
    });
    const answer = JSON.stringify(await of());
    expect(answer).toContain("Bad [removed]");
    expect(answer).not.toContain("eyJ");
  });
  test("asked again by the next request", async () => {
    const { of } = rig(() => new Response("", { status: 500 }), good("t"));
    expect(await of()).toMatchObject({ ok: false });
    expect(await of()).toBe("t");
  });
  test("a key that cannot sign, without an exchange", async () => {
    const { calls, of } = rig(good("t"));
    expect(
      await of({ ...ACCOUNT, pem: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----" }),
    ).toMatchObject({
      signal: { name: "invalid_key" },
    });
    expect(calls.length).toBe(0);
  });
});
