// The document of the service: it is valid, knows every route, and every endpoint answers as it says, asked well or badly.
// What all other tests were answered is compared after the last of them: see test/openapi-conformance.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { version } from "../../../package.json";
import { type Account, type Bench, type Json, type Owner, startBench } from "../../e2e/harness.ts";
import { recordOf } from "../../e2e/recorded.ts";
import { faultsOf, type Promised, promisedBy } from "../documented-answers.ts";
import { ENDPOINTS, hostOf, routeNames } from "../endpoints.ts";
import { wellCalled } from "../well-called.ts";

let bench: Bench;
let owner: Owner;
let user: Account;
let document: Json;
let promised: Promised;
beforeAll(async () => {
  bench = await startBench();
  owner = await hostOf(bench);
  user = await bench.subaccount(owner);
  document = (await bench.call(null, "GET", "/openapi.json")).body;
  promised = promisedBy(document);
});
afterAll(() => bench.close());

describe("the document", () => {
  test("is valid OpenAPI", async () => {
    const found = await new Validator().validate(structuredClone(document));
    expect(found.errors).toBeUndefined();
    expect(found.valid).toBe(true);
  });

  test("has an operation for every route", () => {
    const operations = promised.operations.map(({ method, path }) => `${method} ${path}`);
    const routes = routeNames().map((name) =>
      name
        .replace("/console/*", "/console/{page}")
        .replace("*", "{model}")
        .replaceAll(/:(\w+)/g, "{$1}"),
    );
    expect(operations.sort()).toEqual(routes.sort());
  });

  test("is of this version", () => expect(document.info.version).toBe(version));

  test("says of every operation what it is, and calls each by a name of its own", () => {
    for (const { body } of promised.operations) {
      expect(body.summary.length).toBeGreaterThan(5);
      expect(document.tags.map((tag: Json) => tag.name)).toEqual(expect.arrayContaining(body.tags));
    }
    const ids = promised.operations.map(({ body }) => body.operationId);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test("says of every parameter what it is", () => {
    const silent = promised.operations.flatMap(({ method, path, body }) =>
      body.parameters
        .filter((one: Json) => typeof one.description !== "string")
        .map((one: Json) => `${method} ${path} ${one.name}`),
    );
    expect(silent).toEqual([]);
  });

  test("names only components that it has, and has none that nobody names", () => {
    const named = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name!,
    );
    expect([...new Set(named)].sort()).toEqual(Object.keys(document.components.schemas).sort());
  });

  test("asks for a key wherever the service does, and nowhere else", () => {
    const open = promised.operations.filter(({ body }) => body.security.length === 0).map(({ path }) => path);
    expect(open).toEqual([
      ...["/", "/console", "/console/{page}", "/console/files/{file}"],
      ...["/healthz", "/readyz", "/openapi.json", "/swagger", "/swagger/{file}"],
    ]);
    const both = promised.operations.filter(({ body }) => body.security.length === 2).map(({ path }) => path);
    expect(both.every((path) => path.startsWith("/v1/"))).toBe(true);
  });

  test("gives examples that fit", () => {
    const wrong = promised.operations.flatMap(({ method, path, pointer, body }) => {
      const places: [string, Json][] = [
        ["requestBody", body.requestBody?.content["application/json"]],
        ["responses/200", body.responses[200].content["application/json"]],
      ];
      return places.flatMap(([place, media]) => {
        if (media?.example === undefined) return [];
        const fault = promised.faultAt(`${pointer}/${place}/content/application~1json/schema`, media.example);
        return fault === null ? [] : [`${method} ${path} ${place}: ${fault}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  test("gives an example of every body that is asked for", () => {
    const without = promised.operations.filter(
      ({ body }) =>
        body.requestBody?.content["application/json"] !== undefined &&
        body.requestBody.content["application/json"].example === undefined,
    );
    expect(without.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  });

  test("answers 304 to a client that has it already", async () => {
    const first = await fetch(`${bench.url}/openapi.json`);
    const etag = first.headers.get("etag")!;
    const again = await fetch(`${bench.url}/openapi.json`, { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });
});

describe("what is answered is what the document says", () => {
  /** Asks as the bench does, and compares the answer. */
  async function asPromised(
    key: string | null,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<number> {
    const answer = await bench.call(key, method, path, body);
    expect(faultsOf(promised, [recordOf(method, path, answer)])).toEqual([]);
    return answer.status;
  }

  test.each(Object.keys(ENDPOINTS))("%s, called well and badly", async (name) => {
    const { key, method, path, body } = await wellCalled({ bench, owner, user }, name);
    expect(await asPromised(key, method, path, body)).toBe(200);
    if (key !== null) {
      expect(await asPromised(null, method, path, body)).toBe(401);
      await asPromised(key, method, `${path}${path.includes("?") ? "&" : "?"}unknown=1`, body);
    }
    // Whose key was rotated is nobody any more.
    if (body !== undefined && name !== "POST /x-self") {
      expect(await asPromised(key, method, path, "{")).toBe(400);
      expect(await asPromised(key, method, path, {})).toBe(400);
      await asPromised(key, method, path, { ...body, unknown: 1 });
    }
  });

  test.each([
    ["DELETE", "/dashboard/status", 405],
    ["GET", "/nowhere", 404],
    ["GET", "/v1/models/no-such-model", 404],
    ["GET", "/dashboard/bill?object=list&days=2", 200],
    ["GET", "/dashboard/bill?format=csv", 200],
    ["GET", "/x-bill?object=list", 200],
    ["GET", "/dashboard/bill?group=tag:team&hours=2", 200],
    ["GET", "/x-bill?group=api_key&object=list", 200],
    ["GET", "/x-bill?hours=3&format=csv", 200],
    ["GET", "/x-users?page=0", 200],
  ])("%s %s", async (method, path, status) => {
    expect(await asPromised(user.key, method, path)).toBe(status);
  });

  test("a reference to what nobody made", async () => {
    const body = { model: "bench-model", input: "Hi", previous_response_id: "resp_none" };
    expect(await asPromised(user.key, "POST", "/v1/responses", body)).toBe(400);
    expect(document.paths["/v1/responses"].post.responses[400].description).toContain(
      "`previous_response_not_found`",
    );
  });

  test("a stream, and the models in the shape of the other style", async () => {
    const stream = await bench.chat(user.key, "[[output=3]]", { stream: true });
    const models = await bench.call(user.key, "GET", "/v1/models", undefined, {
      headers: { "anthropic-version": "2023-06-01" },
    });
    expect(stream.headers.get("content-type")).toStartWith("text/event-stream");
    expect(models.body.data[0].type).toBe("model");
    expect(
      faultsOf(promised, [
        recordOf("POST", "/v1/chat/completions", stream),
        recordOf("GET", "/v1/models", models),
      ]),
    ).toEqual([]);
  });

  test.each([
    ["a field that nobody promised", 200, { surprise: 1 }, "surprise"],
    ["a field that is missing", 200, { name: undefined }, "name"],
    ["a field of another kind", 200, { balance: "1" }, "balance"],
    ["a status that nobody promised", 418, {}, "418"],
  ])("the comparison finds %s", async (_what, status, change, word) => {
    const answer = await bench.call(user.key, "GET", "/dashboard/x-user-status");
    const text = JSON.stringify({ ...answer.body, ...change });
    const fault = promised.fault({
      method: "GET",
      path: "/dashboard/x-user-status",
      status,
      type: "application/json",
      text,
    });
    expect(fault).toContain(word);
  });

  test("the comparison finds an error code that nobody promised", () => {
    const text = JSON.stringify({
      error: { message: "m", type: "not_found_error", code: "model_not_priced" },
    });
    const answer = { method: "GET", path: "/x-explain", status: 404, type: "application/json", text };
    expect(promised.fault(answer)).toContain("code");
  });
});

describe("with ADMIN_PORT", () => {
  let apart: Bench;
  beforeAll(async () => {
    apart = await startBench({ settings: { ADMIN_PORT: "0" } });
  });
  afterAll(() => apart.close());

  const pathsAt = async (url: string): Promise<string[]> => {
    const found = (await (await fetch(`${url}/openapi.json`)).json()) as Json;
    return Object.keys(found.paths);
  };

  test("the public document leaves administration out, the other has all", async () => {
    const everything = Object.keys(document.paths);
    expect(await pathsAt(apart.service.adminUrl)).toEqual(everything);
    const shown = await pathsAt(apart.url);
    const hidden = everything.filter((path) => !shown.includes(path));
    expect(hidden).toEqual(
      everything.filter((path) =>
        /^\/(x-keys|x-events|x-money|x-prices|x-conf|x-news$|x-root|x-cluster|x-clock|metrics)/.test(path),
      ),
    );
    for (const path of ["/x-keys/{key}/test", "/x-config/history", "/x-config/revert", "/x-config/preview"]) {
      expect(hidden).toContain(path);
    }
    for (const path of hidden) expect((await fetch(apart.url + path)).status).toBe(404);
    expect(shown).toContain("/x-users");
  });

  test("the public document has no word of what it leaves out", async () => {
    const text = await (await fetch(`${apart.url}/openapi.json`)).text();
    expect(text).not.toContain("ProviderKey");
  });
});
