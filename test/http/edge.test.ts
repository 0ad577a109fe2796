// What docs/administration.md promises of every request at the service's address, asked on sockets: ids, limits of bodies,
// unknown fields, errors in both styles, what an answer says of its cost.

import { describe, expect, test } from "bun:test";
import { asking, fresh } from "../e2e/harness.ts";
import { prepared, useBench } from "../e2e/use-bench.ts";
import { userBody } from "./bodies.ts";
import { properError } from "./proper.ts";
import { type RawAnswer, raw, requestText } from "./raw.ts";

const BODY_BYTES = 1_048_576;

const bench = useBench({ settings: { MAX_BODY_MB: "1" } });
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner, { RPM: 1_000, TPM: 10_000_000 }));

const send = (first: string, key: string | null, body = "", headers: readonly string[] = []) =>
  raw(
    bench.url,
    requestText(first, [...(key === null ? [] : [`Authorization: Bearer ${key}`]), ...headers], body),
  );

describe("every response carries x-request-id", () => {
  test.each([
    ["GET /healthz", 200],
    ["GET /readyz", 200],
    ["GET /metrics", 401],
    ["GET /openapi.json", 200],
    ["GET /swagger", 200],
    ["GET /swagger/nothing", 404],
    ["GET /", 302],
    ["GET /console", 200],
    ["HEAD /console/usage", 200],
    ["GET /console/files/nothing", 404],
    ["GET /v1/models", 401],
    ["HEAD /v1/models", 401],
    ["PROPFIND /v1/models", 405],
    ["GET /nowhere", 404],
    ["GET /%zz", 404],
  ])("%s", async (first, status) => {
    const answer = await send(first, null);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
    const own = await send(first, null, "", ["x-request-id: my own ~1"]);
    expect(own.headers.get("x-request-id")).toBe("my own ~1");
    const unfit = await send(first, null, "", [`x-request-id: ${"x".repeat(129)}`]);
    expect(unfit.headers.get("x-request-id")).toMatch(/^[0-9A-Z]{26}$/);
  });
});

describe("a body over MAX_BODY_MB is 400 body_too_large", () => {
  const paths = ["/v1/chat/completions", "/v1/messages", "/x-users"];

  test.each(paths)("%s, by its stated length, before it comes", async (path) => {
    const head = ["Host: x", `Authorization: Bearer ${owner.key}`, `Content-Length: ${BODY_BYTES + 1}`];
    properError(
      await raw(bench.url, `POST ${path} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n`),
      400,
      "body_too_large",
    );
  });

  test.each(paths)("%s, in chunks", async (path) => {
    const head = ["Host: x", `Authorization: Bearer ${owner.key}`, "Transfer-Encoding: chunked"];
    const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
    const answer = await raw(
      bench.url,
      `POST ${path} HTTP/1.1\r\n${head.join("\r\n")}\r\n\r\n${chunk.repeat(17)}0\r\n\r\n`,
    );
    properError(answer, 400, "body_too_large");
  });

  test("one of just that size is read", async () => {
    const body = `{"model":"bench-model","messages":[{"role":"user","content":"Hi"}]}`.padEnd(
      BODY_BYTES,
      " ",
    );
    expect((await send("POST /v1/chat/completions", user.key, body)).status).toBe(200);
  });
});

describe("what an endpoint does not know is 400 unknown_field, and nothing is done", () => {
  test("in the query of a write", async () => {
    const Name = `edge-${fresh()}`;
    const body = JSON.stringify(userBody({ Name }));
    properError(await send("POST /x-users?dry=1", owner.key, body), 400, "unknown_field");
    expect((await send(`GET /x-users/${Name}`, owner.key)).status).toBe(404);
  });

  test("in the query of a change", async () => {
    const answer = await send(`PUT /x-users/${user.id}?CreditGranted=5`, owner.key, '{"Alias":"x"}');
    properError(answer, 400, "unknown_field");
    expect((await bench.call(owner.key, "GET", `/x-users/${user.id}`)).body[0].Alias).toBe(user.name);
  });

  test("in the query of a deletion", async () => {
    const spare = await bench.subaccount(owner);
    const answer = await send(`DELETE /x-users/${spare.id}?dry=1`, owner.key);
    expect(answer.body.error.code).toBe("unknown_field");
    expect((await send(`GET /x-users/${spare.id}`, owner.key)).status).toBe(200);
  });

  test("in a body", async () => {
    const answer = await send(`PUT /x-users/${user.id}`, owner.key, '{"RPM":5,"rpm":6}');
    expect(answer.body.error.code).toBe("unknown_field");
  });
});

describe("an answer says who gave it, what it cost and what the limits leave", () => {
  const gatewayHeaders = ({ headers }: RawAnswer): string[] =>
    [...headers.keys()].filter((name) => /^x-(arbor|ratelimit)-/.test(name)).sort();
  const LIMITS = ["requests", "tokens"].flatMap((what) =>
    ["limit", "remaining", "reset"].map((figure) => `x-ratelimit-${figure}-${what}`),
  );
  const WHO = ["x-arbor-attempts", "x-arbor-level", "x-arbor-model"];

  test.each<[string, object, readonly string[]]>([
    ["whole", {}, ["x-arbor-cost"]],
    ["streamed", { stream: true }, []],
  ])("%s", async (_, more, cost) => {
    const body = JSON.stringify({ ...asking("[[output=2]]"), ...more });
    const answer = await send("POST /v1/chat/completions", user.key, body);
    expect(answer.status).toBe(200);
    expect(gatewayHeaders(answer)).toEqual([...WHO, ...cost, ...LIMITS].sort());
  });
});
