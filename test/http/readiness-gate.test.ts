// The door of a node: closed while nobody can be served, open to machines however it stands.

import { beforeEach, describe, expect, test } from "bun:test";
import type { Fetch } from "../../src/http/app.ts";
import { createReadinessGate } from "../../src/http/readiness-gate.ts";
import { countingRandom } from "../runtime/manual-clock.ts";

let app: Fetch | null;
let reason: string | null;
let leaving: boolean;
let door: Fetch;
beforeEach(() => {
  app = (request) => new Response(`inside ${new URL(request.url).pathname}`);
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
  const response = await door(new Request(`http://node.example${path}`, { headers }), null);
  return { status: response.status, headers: response.headers, text: await response.text() };
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
    const answer = Promise.withResolvers<Response>();
    app = () => answer.promise;
    const asked = ask("/v1/models");
    leaving = true;
    answer.resolve(new Response("late"));
    expect((await asked).headers.get("connection")).toBe("close");
  });

  test("not before", async () => {
    expect((await ask("/v1/models")).headers.get("connection")).toBeNull();
  });
});
