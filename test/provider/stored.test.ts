// What the stand-in keeps is there for the key that made it, and for no other.

import { afterAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { jsonOf, post } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const OWN = "sk-owner-0001";
const OTHER = "sk-other-0002";
const make = async (extra: object = {}) =>
  jsonOf(await post(provider, "/v1/responses", { model: "gpt-4o", input: "Hi", ...extra }, OWN));
const reach = (method: string, path: string, secret: string) =>
  fetch(`${provider.url}${path}`, { method, headers: { authorization: `Bearer ${secret}` } });
const refer = (body: object, secret: string) =>
  post(provider, "/v1/responses", { model: "gpt-4o", input: "On", ...body }, secret);

test("a response is given back as it was told", async () => {
  const response = await make();
  expect(await jsonOf(await reach("GET", `/v1/responses/${response.id}`, OWN))).toEqual(response);
  expect(provider.calls().at(-1)).toMatchObject({ method: "GET", status: 200, usage: null });
});

test("what it was asked with is given too, and goes with it", async () => {
  const { id } = await make();
  const asked = await jsonOf(await reach("GET", `/v1/responses/${id}/input_items`, OWN));
  expect(asked.data).toEqual([{ type: "message", id: "in_0", role: "user", content: "Hi" }]);
  expect((await reach("GET", `/v1/responses/${id}/input_items`, OTHER)).status).toBe(404);
  await reach("DELETE", `/v1/responses/${id}`, OWN);
  expect((await reach("GET", `/v1/responses/${id}/input_items`, OWN)).status).toBe(404);
});

test("another key does not find it, nor delete it", async () => {
  const { id } = await make();
  for (const method of ["GET", "DELETE"]) {
    const response = await reach(method, `/v1/responses/${id}`, OTHER);
    expect([response.status, (await jsonOf(response)).error.message]).toEqual([
      404,
      `Response with id '${id}' not found.`,
    ]);
  }
  expect((await reach("GET", `/v1/responses/${id}`, OWN)).status).toBe(200);
});

test("a deleted response is gone", async () => {
  const { id } = await make();
  const deleted = await jsonOf(await reach("DELETE", `/v1/responses/${id}`, OWN));
  expect(deleted).toEqual({ id, object: "response", deleted: true });
  expect((await reach("GET", `/v1/responses/${id}`, OWN)).status).toBe(404);
});

test("store: false keeps nothing", async () => {
  const { id } = await make({ store: false });
  expect((await reach("GET", `/v1/responses/${id}`, OWN)).status).toBe(404);
});

test("a streamed response is kept too", async () => {
  const text = await (await refer({ stream: true }, OWN)).text();
  const id = /"id":"(resp_\w+)"/.exec(text)![1]!;
  expect((await jsonOf(await reach("GET", `/v1/responses/${id}`, OWN))).status).toBe("completed");
});

describe("a request that refers to", () => {
  test.each([
    ["previous_response_id", "resp", async () => ({ previous_response_id: (await make()).id })],
    [
      "item_reference",
      "msg",
      async () => ({ input: [{ type: "item_reference", id: (await make()).output[0].id }] }),
    ],
    ["conversation", "conv", async () => ({ conversation: (await talk()).id })],
    ["conversation object", "conv", async () => ({ conversation: { id: (await talk()).id } })],
  ])("%s is known to its key only", async (_, prefix, referring) => {
    const body = await referring();
    expect((await refer(body, OWN)).status).toBe(200);
    const response = await refer(body, OTHER);
    expect(response.status).toBe(404);
    expect((await jsonOf(response)).error.message).toContain(`'${prefix}_`);
    expect(provider.calls().at(-1)!.usage).toBeNull();
  });

  const talk = async () => jsonOf(await post(provider, "/v1/conversations", {}, OWN));

  test("a conversation says so in its answer", async () => {
    const { id } = await talk();
    expect((await make({ conversation: id })).conversation).toEqual({ id });
    expect((await make()).conversation).toBeUndefined();
  });

  test("a missing response tells the provider's code", async () => {
    const { error } = await jsonOf(await refer({ previous_response_id: "resp_none" }, OWN));
    expect([error.code, error.param]).toEqual(["previous_response_not_found", "previous_response_id"]);
  });
});

test("a key's behaviour reaches what is kept, and a refused deletion deletes nothing", async () => {
  const { id } = await make();
  provider.behave(OWN, "fault=503", 1);
  expect((await reach("DELETE", `/v1/responses/${id}`, OWN)).status).toBe(503);
  provider.behave(OWN, "fault=garbage", 1);
  const garbage = await (await reach("GET", `/v1/responses/${id}`, OWN)).text();
  expect(garbage).toBe('{"id":"standin');
  expect((await reach("GET", `/v1/responses/${id}`, OWN)).status).toBe(200);
});

test("the official client retrieves and deletes", async () => {
  const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: OWN, maxRetries: 0 });
  const { id } = await make();
  expect((await client.responses.retrieve(id)).output_text).toStartWith("Hi");
  await client.responses.delete(id);
  expect(await client.responses.retrieve(id).catch((error: Error) => error)).toBeInstanceOf(
    OpenAI.NotFoundError,
  );
});
