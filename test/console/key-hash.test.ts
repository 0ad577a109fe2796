// The console's own SHA-256 is that of everybody else.

import { describe, expect, test } from "bun:test";
import { publicKeyOf, sha256 } from "../../console/api/key-hash.ts";

describe("the hash of a key", () => {
  test("is SHA-256, whatever the length", () => {
    for (let length = 0; length < 200; length++) {
      const text = "sk-äβ漢🌸xyz0123456789".repeat(20).slice(0, length).toWellFormed();
      expect(sha256(text)).toBe(new Bun.CryptoHasher("sha256").update(text).digest("hex"));
    }
  });

  test("its beginning is the public part", () => {
    expect(publicKeyOf("abc")).toBe("pk-ba7816bf8f01cfea");
  });
});
