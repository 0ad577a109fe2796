// The bound of open connections: an idle one gives way, and where all are in use the failure is the node's and no key's.

import { expect, test } from "bun:test";
import { realClock } from "../../../src/base/clock.ts";
import { clientErrorFor, NO_KEY_AVAILABILITY } from "../../../src/gateway/attempt/client-error.ts";
import { ConnectionPool } from "../../../src/upstream/http1/connection-pool.ts";
import { FAILURE_RULES, fromError } from "../../../src/upstream/upstream-failure.ts";
import { rawServer } from "./raw-server.ts";

const never = new AbortController().signal;
const at = (port: number) => ({ address: "127.0.0.1", port, serverName: null });

test("at the bound an idle connection to another peer is closed for a new one", async () => {
  await using first = rawServer((to) => to.piece("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"));
  await using second = rawServer(() => undefined);
  const pool = new ConnectionPool(realClock(), 1);
  const one = await pool.connect(at(first.port), never);
  await one.send({ bytes: Buffer.from("GET / HTTP/1.1\r\n\r\n"), more: null }).response;
  await pool.connect(at(second.port), never);
  expect([pool.size, pool.takeIdle(at(first.port))]).toEqual([1, null]);
});

test("where all are in use it is refused, which counts against no key and is said to the client", async () => {
  await using server = rawServer(() => undefined);
  const pool = new ConnectionPool(realClock(), 1);
  await pool.connect(at(server.port), never);
  const error = await pool.connect(at(server.port), never).catch((reason: unknown) => reason);
  const failure = fromError(error);
  expect(failure).toEqual({ name: "no_connection", status: 0, note: "ECONNLIMIT" });
  expect(FAILURE_RULES[failure.name]).toEqual({ key: "none", over: false });
  const said = clientErrorFor([failure], { path: "/v1/chat/completions", model: "m" }, NO_KEY_AVAILABILITY);
  expect(said).toMatchObject({ refusal: { code: "service_unavailable", retryAfterS: 1 } });
});
