// The door of a node: closed while nobody can be served, open to machines however it stands.

import { beforeEach, describe, expect, test } from "bun:test";
import { createReadinessGate } from "../../src/http/readiness-gate.ts";
import type { Handler } from "../../src/http/server/http-server.ts";
import type { ServerResponse } from "../../src/http/server/server-response.ts";
import { countingRandom } from "../runtime/manual-clock.ts";
import { bodyOf, serverRequest } from "./server/requests.ts";

let app: Handler | null;
let reason: string | null;
let leaving: boolean;
let door: Handler;
beforeEach(() => {
  app = ({ path }) => ({ status: 200, headers: {}, body: `inside ${path}` });
  [reason, leaving] = [null, false];
  door = createReadinessGate({
    random: countingRandom(),
    app: () => app,
    closed: () => reason,
    around: null,
    leaving: () => leaving,
  });
});

const ask = async (path: string, headers: Record<string, string> = {}) => {
  const response = await door(serverRequest(`GET ${path}`, headers));
  return {
    status: response.status,
    headers: new Headers(response.headers),
    text: await bodyOf(response),
  };
};

test("open, it lets everybody in", async () => {
  expect(await ask("/v1/models")).toMatchObject({ status: 200, text: "inside /v1/models" });
});

describe("before the start has ended", () => {
  beforeEach(() => {
    app = null;
    reason = "the node is starting: NATS cannot be reached";
  });

  test.each([
    ["/healthz", 200, "ok\n"],
    ["/readyz", 503, "the node is starting: NATS cannot be reached\n"],
    ["/readyz?full=1", 503, "the node is starting: NATS cannot be reached\n"],
  ])("%s answers %i", async (path, status, text) => {
    const answer = await ask(path, { "x-request-id": "mine" });
    expect(answer).toMatchObject({ status, text });
    expect(answer.headers.get("x-request-id")).toBe("mine");
  });

  test.each(["/v1/chat/completions", "/x-users", "/metrics", "/nowhere"])(
    "%s is 503 with a wait, and the client's request id",
    async (path) => {
      const { status, headers, text } = await ask(path, { "x-request-id": "mine" });
      expect([status, headers.get("retry-after"), headers.get("x-request-id")]).toEqual([503, "1", "mine"]);
      const { error } = JSON.parse(text);
      expect(error).toMatchObject({ code: "service_unavailable", type: "upstream_error" });
      expect(error.message).toContain("NATS cannot be reached");
    },
  );

  test("below /v1/messages it is said as SDKs of that style read it", async () => {
    const { text } = await ask("/v1/messages", { "x-request-id": "mine" });
    expect(JSON.parse(text)).toMatchObject({ type: "error", request_id: "mine" });
  });
});

describe("cut off", () => {
  beforeEach(() => {
    reason = "neither its store nor another node can be reached";
  });

  test.each(["/healthz", "/readyz", "/metrics"])("%s is answered inside", async (path) => {
    expect(await ask(path)).toMatchObject({ status: 200, text: `inside ${path}` });
  });

  test("everybody else hears 503 at once", async () => {
    expect((await ask("/v1/chat/completions")).status).toBe(503);
  });
});

describe("leaving", () => {
  test("every answer closes its connection", async () => {
    leaving = true;
    expect((await ask("/v1/models")).headers.get("connection")).toBe("close");
    app = null;
    expect((await ask("/v1/models")).headers.get("connection")).toBe("close");
  });

  test("also what was under way when it began", async () => {
    const answer = Promise.withResolvers<ServerResponse>();
    app = () => answer.promise;
    const asked = ask("/v1/models");
    leaving = true;
    answer.resolve({ status: 200, headers: {}, body: "late" });
    expect((await asked).headers.get("connection")).toBe("close");
  });

  test("not before", async () => {
    expect((await ask("/v1/models")).headers.get("connection")).toBeNull();
  });
});
