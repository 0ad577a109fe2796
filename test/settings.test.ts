// Settings as they are read from the environment: the defaults of the cloud keys, and what is refused by name.

import { describe, expect, test } from "bun:test";
import { BadSetting, readSettings } from "../src/settings.ts";

const read = (env: Record<string, string>) => readSettings(env, false);
const DATED = "2025-04-01-preview";
const DEFAULTS = { chat: DATED, embeddings: "2024-10-21", responses: DATED, audio: DATED, images: DATED };

describe("CLOUD_A_API_VERSIONS", () => {
  test("unset: the defaults of each kind", () => {
    expect(read({}).cloudAApiVersions).toEqual(DEFAULTS);
  });
  test("names some kinds and leaves the others", () => {
    const given = JSON.stringify({ chat: "v1", embeddings: "2024-02-01" });
    expect(read({ CLOUD_A_API_VERSIONS: given }).cloudAApiVersions).toEqual({
      ...DEFAULTS,
      chat: "v1",
      embeddings: "2024-02-01",
    });
  });
  const BAD: readonly (readonly [rule: string, given: string])[] = [
    ["no JSON", "chat=v1"],
    ["a list", "[]"],
    ["null", "null"],
    ["a kind that is none", '{"chats":"v1"}'],
    ["a version that is none", '{"chat":"newest"}'],
    ["a version that is no text", '{"chat":20241021}'],
    ["a date with more behind", '{"chat":"2024-10-21&x=1"}'],
  ];
  test.each(BAD)("refuses %s", (_, given) => {
    const refused = () => read({ CLOUD_A_API_VERSIONS: given });
    expect(refused).toThrow(BadSetting);
    expect(refused).toThrow(/^CLOUD_A_API_VERSIONS/);
  });
});

describe("CLOUD_B_TOKEN_URL", () => {
  test("unset: the cloud's own", () => {
    expect(read({}).cloudBTokenUrl).toBe("https://oauth2.googleapis.com/token");
  });
  test("another address", () => {
    expect(read({ CLOUD_B_TOKEN_URL: "http://127.0.0.1:9/token" }).cloudBTokenUrl).toBe(
      "http://127.0.0.1:9/token",
    );
  });
  test.each(["tokens", "https://", "ftp://tokens.example/"])("refuses %p", (url) => {
    expect(() => read({ CLOUD_B_TOKEN_URL: url })).toThrow(/^CLOUD_B_TOKEN_URL/);
  });
});

describe("SSE_KEEPALIVE_MS", () => {
  test.each([
    [undefined, 0],
    ["0", 0],
    ["1000", 1_000],
    ["60000", 60_000],
  ])("%p is %p", (given, ms) => {
    expect(read(given === undefined ? {} : { SSE_KEEPALIVE_MS: given }).sseKeepaliveMs).toBe(ms);
  });
  test.each(["1", "999", "60001", "-1", "15s"])("refuses %p", (given) => {
    expect(() => read({ SSE_KEEPALIVE_MS: given })).toThrow(/^SSE_KEEPALIVE_MS/);
  });
});
