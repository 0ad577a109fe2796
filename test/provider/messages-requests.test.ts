// What the messages dialect takes: where a key may be, that a version must be, and requests that only want a count.

import { afterAll, describe, expect, test } from "bun:test";
import { askMessages, jsonOf, STYLES } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());

describe("the key and the version", () => {
  const { path, body } = STYLES.messages;
  const post = async (headers: Record<string, string>) =>
    (await fetch(`${provider.url}${path}`, { method: "POST", headers, body: JSON.stringify(body("hi")) }))
      .status;
  const version = { "anthropic-version": "2023-06-01" };

  test.each([
    ["x-api-key", { "x-api-key": "sk-own-2001" }, "2001"],
    ["a bearer token", { authorization: "Bearer sk-own-2002" }, "2002"],
    ["both, x-api-key first", { "x-api-key": "sk-own-2003", authorization: "Bearer sk-own-2004" }, "2003"],
  ])("%s is taken", async (_, headers, key) => {
    expect(await post({ ...headers, ...version } as Record<string, string>)).toBe(200);
    expect(provider.calls().at(-1)).toMatchObject({ key });
    expect(provider.calls().at(-1)!.headers).not.toHaveProperty("x-api-key");
  });

  test("no key is a 401, no version a 400", async () => {
    expect([await post(version), await post({ "x-api-key": "sk-own-2005" })]).toEqual([401, 400]);
  });
});

describe("count_tokens", () => {
  const count = (body: object) =>
    fetch(`${provider.url}/v1/messages/count_tokens`, {
      method: "POST",
      headers: STYLES.messages.headers("sk-count-2006"),
      body: JSON.stringify({ model: "claude-sonnet-4-5", ...body }),
    });
  const messages = [{ role: "user", content: "one two three four" }];
  const TOOLS = [{ name: "look_up", input_schema: { type: "object", properties: {} } }];

  test("counts what a message would, needs no limit and generates nothing", async () => {
    const response = await count({ messages, system: "be brief", tools: TOOLS });
    const asked = await jsonOf(
      await askMessages(provider, "", { messages, system: "be brief", tools: TOOLS }),
    );
    expect(await jsonOf(response)).toEqual({ input_tokens: asked.usage.input_tokens });
    const call = provider.calls().findLast(({ key }) => key === "2006")!;
    expect(call).toMatchObject({ outcome: "complete", status: 200, usage: null, stream: false });
  });

  test("fails as its script says", async () => {
    const failing = [{ role: "user", content: "hi [[fault=529]]" }];
    expect((await count({ messages: failing })).status).toBe(529);
    const fixed = [{ role: "user", content: "hi [[prompt=321]]" }];
    expect(await jsonOf(await count({ messages: fixed }))).toEqual({ input_tokens: 321 });
  });
});
