// Lengths count characters, which are code points: a text of emoji may be as long as one of letters, and no longer.

import { describe, expect, test } from "bun:test";
import { maskOf } from "../../src/upstream/secret-vault.ts";
import { fresh, type Json } from "../e2e/harness.ts";
import { prepared, useBench } from "../e2e/use-bench.ts";
import { keyBody } from "./bodies.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner));

/** Two halves, one character. */
const WIDE = "𝕏";
const ADDRESS = "@bench.example";

interface Row {
  readonly field: string;
  readonly most: number;
  readonly least?: number;
  readonly send: (text: string) => Promise<{ readonly status: number; readonly body: Json }>;
  /** A text of so many characters; left out: all of them are wide. */
  readonly of?: (length: number) => string;
  /** A refusal of what the text says, whatever its length. */
  readonly except?: string;
}

const post = (path: string, body: object) => bench.call(owner.key, "POST", path, body);
const put = (path: string, body: object) => bench.call(owner.key, "PUT", path, body);
const newUser = (more: object) =>
  post("/x-users", { Name: `long-${fresh()}`, Email: `long${ADDRESS}`, CreditGranted: 2, ...more });
const newKey = (more: object) => post("/x-keys", keyBody(bench.provider.url, more));

let unlike = 0;
/** A name that nobody has, of so many characters. */
const unique = (length: number): string => String.fromCodePoint(0x20000 + unlike++) + WIDE.repeat(length - 1);

const ROWS: readonly Row[] = [
  {
    ...{ field: "Name", least: 4, most: 63 },
    of: unique,
    send: (Name) => newUser({ Name }),
  },
  { field: "Alias", most: 255, send: (Alias) => put(`/x-users/${user.id}`, { Alias }) },
  { field: "Alias of a new account", most: 255, send: (Alias) => newUser({ Alias }) },
  { field: "news' title", least: 1, most: 100, send: (title) => post("/x-news", { title, content: "c" }) },
  {
    field: "news' content",
    least: 1,
    most: 1_000,
    send: (content) => post("/x-news", { title: "t", content }),
  },
  { field: "a provider key's Name", most: 255, send: (Name) => newKey({ Name }) },
  {
    ...{ field: "a provider key's SecretKey", least: 20, most: 8_192 },
    send: (SecretKey) => newKey({ SecretKey }),
  },
  {
    ...{ field: "a provider key's new SecretKey", least: 20, most: 8_192 },
    send: (SecretKey) => put(`/x-keys/${owner.keys[0]!.id}`, { SecretKey }),
  },
  {
    ...{ field: "a deployment", least: 1, most: 256 },
    send: (name) => newKey({ Config: { provider_type: "cloud_a", model_mapping: { m: name } } }),
  },
  { field: "EMAIL_PASS", most: 1_024, send: (EMAIL_PASS) => put("/x-config", { EMAIL_PASS }) },
  {
    ...{ field: "a pattern of a map", least: 1, most: 256 },
    send: (name) => put("/x-config", { MODEL_MAPPER: `${name}=m` }),
  },
  {
    ...{ field: "a model", least: 1, most: 256, except: "model_not_priced" },
    send: (model) => bench.call(user.key, "POST", "/v1/embeddings", { model, input: "x" }),
  },
];

const outcome = ({ status, body }: { status: number; body: Json }, except: string | undefined): string =>
  status === 200 || body.error.code === except ? "fits" : `${status} ${body.error.code}`;

describe.each(ROWS)("$field", ({ most, least = 0, send, of = (length) => WIDE.repeat(length), except }) => {
  test(`may have ${most} characters, and not one more`, async () => {
    expect(outcome(await send(of(most)), except)).toBe("fits");
    expect(outcome(await send(of(most + 1)), except)).toBe("400 invalid_parameter");
  });

  if (least > 1) {
    test(`must have ${least} characters, though fewer have as many halves`, async () => {
      expect(outcome(await send(of(least)), except)).toBe("fits");
      expect(outcome(await send(of(least - 1)), except)).toBe("400 invalid_parameter");
    });
  }
});

test("maps as a whole are counted so, too", async () => {
  const mapOf = (length: number) =>
    Array.from({ length }, (_, i) => `${WIDE.repeat(100)}${1_000 + i}=${WIDE.repeat(200)}`).join(",");
  expect(mapOf(420).length).toBeGreaterThan(131_072);
  const ask = [
    (map: string) => put("/x-config", { MODEL_MAPPER: map }),
    (map: string) => bench.call(user.key, "PUT", `/x-users/${user.id}`, { ModelMapper: map }),
  ];
  for (const send of ask) {
    expect((await send(mapOf(420))).status).toBe(200);
    expect((await send(mapOf(440))).status).toBe(400);
  }
});

test("a mask is made of characters, not of halves", () => {
  for (const secret of [WIDE.repeat(20), `a${WIDE.repeat(20)}b`, "sk-0123456789abcdef0123"]) {
    const mask = maskOf(secret);
    expect(mask.isWellFormed()).toBe(true);
    expect([...mask].length).toBe(8);
  }
  expect(maskOf("sk-0123456789abcdef0123")).toBe("sk-…0123");
});

test("the document says no length that it does not mean", async () => {
  const document = (await bench.call(null, "GET", "/openapi.json")).body;
  const { properties } = document.paths["/x-users"].post.requestBody.content["application/json"].schema;
  expect(properties.Name).toMatchObject({ type: "string", minLength: 4, maxLength: 63 });
});
