// Traps of Elysia that the edge steps around, each by what a client would see: what is validated when, what is read, what a
// repeat gets, and what an error says. Two rigs: the whole service, and one endpoint of a family that is made here.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Kind, type TSchema, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type AppParts, routesOf } from "../../src/http/app.ts";
import { errorHandler } from "../../src/http/error-handler.ts";
import { createAdminIdempotency } from "../../src/http/idempotency.ts";
import { rawAnswer } from "../../src/http/json-stream.ts";
import { type ManagementParts, management } from "../../src/http/management.ts";
import { RoutedRequests } from "../../src/http/routed-requests.ts";
import { answerOf, optionalBody } from "../../src/http/schemas.ts";
import { createSecretVault } from "../../src/upstream/secret-vault.ts";
import { type Account, type Bench, type Owner, startBench } from "../e2e/harness.ts";
import { countingRandom, manualClock } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { properError } from "./proper.ts";

test("every route says who may call it, but those that anybody may", () => {
  const open = routesOf({} as AppParts).filter(({ hooks }) => (hooks.detail?.security ?? []).length === 0);
  expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
    ...["GET /", "GET /console", "GET /console/*", "GET /console/files/:file"],
    ...["GET /healthz", "GET /openapi.json", "GET /readyz", "GET /swagger", "GET /swagger/:file"],
  ]);
});

describe("through the service", () => {
  let bench: Bench;
  let owner: Owner;
  let user: Account;
  beforeAll(async () => {
    bench = await startBench();
    owner = await bench.owner();
    user = await bench.subaccount(owner);
  });
  afterAll(() => bench.close());

  const NEWS = { title: "a title", content: "what it is about" };

  test.each([
    ["no key", () => null, 401],
    ["not an Owner", () => user.key, 403],
    ["an Owner", () => owner.key, 400],
  ])("who calls is settled before what it sends: %s", async (_, key, status) => {
    for (const body of ["{", "[]", { unknown: 1 }]) {
      expect((await bench.call(key(), "POST", "/x-news?unknown=1", body)).status).toBe(status);
    }
  });

  test("a key in the query that comes twice is refused, not taken once", async () => {
    const path = "/x-news?a=1&a=2";
    const answer = await bench.call(owner.key, "POST", path, NEWS);
    properError(answer);
    expect(answer.body.error.message).toContain('"a"');
  });

  test.each(["/x-news/", "/dashboard/news/"])("%s: a slash behind a path changes nothing", async (path) => {
    const method = path === "/x-news/" ? "POST" : "GET";
    const body = method === "POST" ? { body: JSON.stringify(NEWS) } : {};
    const headers = { authorization: `Bearer ${owner.key}` };
    expect((await fetch(bench.url + path, { method, headers, ...body })).status).toBe(200);
  });

  test("a gateway path with a slash behind it is read by the gateway alone, as without", async () => {
    for (const body of ["{", { model: 5 }, { model: "bench-model", messages: "none" }]) {
      const [exact, other] = [
        await bench.call(user.key, "POST", "/v1/chat/completions", body),
        await bench.call(user.key, "POST", "/v1/chat/completions/", body),
      ];
      properError(exact);
      expect([other.status, other.body]).toEqual([exact.status, exact.body]);
    }
  });

  test("HEAD is answered as GET without its body; other methods name those that there are", async () => {
    const head = await bench.call(user.key, "HEAD", "/dashboard/news");
    expect([head.status, head.text]).toEqual([200, ""]);
    for (const method of ["OPTIONS", "PATCH"]) {
      const answer = await bench.call(user.key, method, "/x-news/3");
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, DELETE"]);
    }
  });

  test("a part of the path that cannot be decoded names nobody", async () => {
    const answer = await bench.call(owner.key, "DELETE", "/x-news/%E0%A4%A");
    properError(answer, [404]);
  });

  test("an error about a body says field and rule, and never what was sent", async () => {
    const secret = "never-to-be-seen";
    for (const body of [
      { title: { secret }, content: secret },
      { ...NEWS, days: secret },
      { ...NEWS, [secret]: 1 },
    ]) {
      const answer = await bench.call(owner.key, "POST", "/x-news", body);
      properError(answer);
      const { message } = answer.body.error;
      // The name of a field that nobody knows is all that an error repeats.
      if (!(secret in body)) expect(message).not.toContain(secret);
      expect(message).not.toMatch(/found|expected|"value"/);
    }
    expect(JSON.stringify(bench.log)).not.toContain(secret);
  });

  test("values are not converted: a number in quotes is no number", async () => {
    properError(await bench.call(owner.key, "POST", "/x-news", { ...NEWS, days: "3" }));
  });

  test("a suspended account reads, and does nothing else", async () => {
    const one = await bench.subaccount(owner);
    const { id } = one;
    await bench.call(owner.key, "PUT", `/x-users/${id}`, { Suspended: true });
    expect((await bench.call(one.key, "GET", "/dashboard/news")).status).toBe(200);
    for (const [method, path] of [
      ["POST", "/x-news/3"],
      ["DELETE", "/x-news/3"],
    ] as const) {
      const answer = await bench.call(one.key, method, path, method === "POST" ? NEWS : undefined);
      expect(answer.body.error.code).toBe("account_suspended");
    }
  });
});

/** Sends a piece, and then fails. */
const breakingStream = (): ReadableStream<Uint8Array> =>
  new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode("a piece"));
      controller.error(new Error("broken"));
    },
  });

describe("one endpoint", () => {
  const account = { profile: { id: 7, parent: 1 }, isOwner: true };

  /** An application of one family. `handle`: what its endpoint does. */
  function rig(handle: (body: { n?: number }, set: { headers: Record<string, unknown> }) => unknown) {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const log: unknown[] = [];
    const written: string[] = [];
    const random = countingRandom();
    const vault = createSecretVault(Buffer.alloc(32, 1).toString("base64"), null);
    const parts = {
      ...{ clock, random, maxBodyBytes: 1_000, trustProxy: [], listener: () => null },
      servesAdministration: true,
      routed: new RoutedRequests(),
      log: (...line: unknown[]) => void log.push(line),
      limiter: { count: () => undefined },
      refusalLimiter: { count: () => undefined },
      identify: async () => ({ account: 7, keyHash: "h" }),
      system: { ask: async () => ({ ...account, key: { account: 7, apiKey: 0 } }) },
      auditLog: { write: async ({ status }: { status: string }) => void written.push(status) },
      idempotency: createAdminIdempotency({
        ...{ store, vault, clock, random, log: () => {} },
        nodes: { node: () => "here", isUp: async () => false },
      }),
    } as unknown as ManagementParts;
    const family = new Elysia({ normalize: false })
      .use(management(parts))
      .post("/x-news", async ({ body, set }) => handle(body, set) as { done: boolean }, {
        access: { role: "any", scope: "manage", audit: "add_news" },
        body: optionalBody(
          Type.Object({ n: Type.Optional(Type.Integer()) }, { additionalProperties: false }),
        ),
        response: answerOf(Type.Object({ done: Type.Boolean() })),
      })
      .get("/x-stream", () => rawAnswer<string>(breakingStream()), {
        access: { role: "any", scope: "read", audit: null },
        response: answerOf(Type.String()),
      })
      .delete("/x-news", async ({ body }) => ({ body: body === undefined }), {
        access: { role: "any", scope: "manage", audit: null },
      });
    const app = new Elysia({ normalize: false })
      .onError((context) => errorHandler(parts, () => app.routes)(context as never))
      .use(family);
    const send = async (body: string | undefined, key: string | null = null, method = "POST") => {
      const headers = { authorization: "Bearer sk-x", ...(key === null ? {} : { "idempotency-key": key }) };
      const init = { method, headers, ...(body === undefined ? {} : { body }) };
      const answer = await app.handle(new Request("http://x.example/x-news", init));
      return { status: answer.status, headers: answer.headers, body: await answer.text() };
    };
    return { send, log, written, app, family };
  }

  test("a repeat has the headers of the first answer too, but an id of its own", async () => {
    let times = 0;
    const { send, written } = rig((_, set) => {
      set.headers["X-Total-Count"] = String(++times);
      return { done: true };
    });
    const [first, second] = [await send("{}", "k"), await send("{}", "k")];
    expect([times, second.body]).toEqual([1, first.body]);
    expect(second.headers.get("x-total-count")).toBe("1");
    expect(second.headers.get("x-request-id")).not.toBe(first.headers.get("x-request-id"));
    expect(written).toEqual(["success"]);
  });

  test("an error frees the key before its answer leaves", async () => {
    let times = 0;
    const { send, written } = rig(() => {
      times++;
      if (times === 1) throw new Error("broken");
      return { done: true };
    });
    expect((await send("{}", "k")).status).toBe(500);
    expect((await send("{}", "k")).status).toBe(200);
    expect([times, written]).toEqual([2, ["failed", "success"]]);
  });

  test("a field too many in an answer does not turn what was done into an error", async () => {
    const { send } = rig(() => ({ done: true, surplus: 1 }));
    expect(await send("{}")).toMatchObject({ status: 200, body: '{"done":true,"surplus":1}' });
  });

  test.each(['"text"', "[]", "7", "null", '{"n":"3"}', '{"n":1.5}', '{"m":1}'])(
    "a body that may be left out is checked when it is there: %s",
    async (body) => {
      const { send } = rig(() => ({ done: true }));
      expect((await send(body)).status).toBe(400);
      expect((await send(undefined)).status).toBe(200);
    },
  );

  test.each(["{", "[[".repeat(400)])("a body without a schema is not even read: %p", async (body) => {
    const { send } = rig(() => ({ done: true }));
    expect(await send(body, null, "DELETE")).toMatchObject({ status: 200, body: '{"body":true}' });
  });

  test("a stream that fails midway breaks off: its client does not take it for complete", async () => {
    const { app } = rig(() => ({ done: true }));
    const headers = { authorization: "Bearer sk-x" };
    const answer = await app.handle(new Request("http://x.example/x-stream", { headers }));
    expect(answer.status).toBe(200);
    expect(await answer.text().catch((error) => error.message)).toBe("broken");
  });

  test("the compiler refuses an answer that does not fit its schema, and a role that there is not", () => {
    const { family } = rig(() => ({ done: true }));
    const response = answerOf(Type.Object({ done: Type.Boolean() }));
    const access = { role: "any", scope: "read", audit: null } as const;
    family.get("/a", () => ({ done: true }), { access, response });
    // @ts-expect-error: the answer is no boolean
    family.get("/b", () => ({ done: 1 }), { access, response });
    // @ts-expect-error: there is no such role
    family.get("/c", () => ({ done: true }), { access: { ...access, role: "admin" }, response });
    expect(family.routes.length).toBeGreaterThan(3);
  });

  test("no body has a plain string: Elysia cannot describe an object there whose toString is no function", () => {
    const strings = (schema: TSchema, at: string): string[] => [
      ...(schema[Kind] === "String" ? [at] : []),
      ...Object.entries<TSchema>(schema.properties ?? {}).flatMap(([name, one]) =>
        strings(one, `${at}.${name}`),
      ),
      ...(schema.items === undefined ? [] : strings(schema.items, `${at}[]`)),
    ];
    const found = routesOf({} as AppParts).flatMap(({ method, path, hooks }) =>
      hooks.body === undefined || (path.startsWith("/v1/") && path !== "/v1/quote")
        ? []
        : strings(hooks.body, `${method} ${path}`),
    );
    expect(found).toEqual([]);
  });

  test("families of different parts stay apart", async () => {
    const [one, other] = [rig(() => ({ done: true })), rig(() => ({ done: false }))];
    await one.send("{}");
    expect([one.written, other.written]).toEqual([["success"], []]);
    expect((await other.send("{}")).body).toBe('{"done":false}');
  });

  test("a bug is logged, once, without what was sent", async () => {
    const { send, log } = rig(() => {
      throw new TypeError("broken");
    });
    const answer = await send('{"n":12345}');
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([500, "internal_error"]);
    expect(log).toMatchObject([["error", "request_failed", { error: "TypeError: broken" }]]);
    expect(JSON.stringify(log)).not.toContain("12345");
  });
});
