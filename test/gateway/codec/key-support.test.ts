// Which keys can take the requests of a path: by the style that they speak, and, of the clouds, by the paths that there are.

import { describe, expect, test } from "bun:test";
import type { LevelKey } from "../../../actors/level/view.ts";
import { keySupportFor } from "../../../src/gateway/codec/key-support.ts";
import { findEndpoint } from "../../../src/gateway/endpoints.ts";
import { viewOf } from "../level-samples.ts";

const [plain, messages] = viewOf(1, [1, { id: 2, style: "messages" }]).keys as [LevelKey, LevelKey];
const cloud: LevelKey = { ...plain, config: { provider_type: "cloud_a" } };

/** A provider that has the one path. */
const having = (path: string) => {
  const asked: string[] = [];
  const address = (to: { readonly path: string }) => {
    asked.push(to.path);
    return to.path === path ? new URL("https://api.example.com") : `has no ${to.path}`;
  };
  return { asked, address, lacks: () => false };
};

describe("a key", () => {
  test("of the chat style serves the paths that are of no style of their own", () => {
    for (const path of [
      "/v1/embeddings",
      "/v1/images/edits",
      "/v1/audio/speech",
      "/v1/rerank",
      "/v1/moderations",
    ]) {
      expect(keySupportFor(findEndpoint(path), having(""))(plain, "m")).toBe("served");
      expect(keySupportFor(findEndpoint(path), having(""))(messages, "m")).toBe("other_style");
    }
  });

  test("of a plain provider is not asked for paths: what it lacks it says itself", () => {
    const upstream = having("");
    expect(keySupportFor(findEndpoint("/v1/rerank"), upstream)(plain, "m")).toBe("served");
    expect(upstream.asked).toEqual([]);
  });

  test("of a provider that has said so lacks a path, but never that of its own style", () => {
    const upstream = { ...having(""), lacks: () => true };
    const supportOf = (path: string, key: LevelKey) => keySupportFor(findEndpoint(path), upstream)(key, "m");
    expect(supportOf("/v1/rerank", plain)).toBe("other_path");
    expect(supportOf("/v1/messages/count_tokens", messages)).toBe("other_path");
    expect(supportOf("/v1/chat/completions", plain)).toBe("served");
    expect(supportOf("/v1/messages", messages)).toBe("served");
    expect(supportOf("/v1/messages", plain)).toBe("served");
    expect(supportOf("/v1/responses", plain)).toBe("served");
  });

  test("of a cloud serves what the cloud has", () => {
    const upstream = having("/v1/embeddings");
    expect(keySupportFor(findEndpoint("/v1/embeddings"), upstream)(cloud, "m")).toBe("served");
    expect(keySupportFor(findEndpoint("/v1/rerank"), upstream)(cloud, "m")).toBe("other_path");
  });
});
