// What answers are called: the provider's word where it is known to be harmless, else the plainest one that fits.

import { describe, expect, test } from "bun:test";
import { soundType, wordsType } from "../../../src/gateway/answer/headers.ts";

describe("sound", () => {
  test.each([
    ["audio/mpeg", "audio/mpeg"],
    ["Audio/MPEG; charset=binary", "audio/mpeg"],
    ["audio/x-wav", "audio/x-wav"],
    ["text/html", "application/octet-stream"],
    ["", "application/octet-stream"],
    ["audio/", "application/octet-stream"],
    ["audio/mpeg, text/html", "application/octet-stream"],
    ["image/svg+xml", "application/octet-stream"],
  ])("%j is said to be %s", (given, said) => expect(soundType(given)).toBe(said));
});

describe("words", () => {
  test.each([
    ["text/plain", "text/plain; charset=utf-8"],
    ["text/plain; charset=iso-8859-1", "text/plain; charset=utf-8"],
    ["text/vtt", "text/vtt; charset=utf-8"],
    ["application/x-subrip", "application/x-subrip; charset=utf-8"],
    ["text/html", "text/plain; charset=utf-8"],
    ["", "text/plain; charset=utf-8"],
  ])("%j are said to be %s", (given, said) => expect(wordsType(given)).toBe(said));
});
