// How long a sound is, by its header, its rate or its size; and what of subtitles is time and what is words.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { codePoints } from "../../../actors/code-points.ts";
import { secondsAtMost, spokenSeconds } from "../../../src/dialect/media/sound-duration.ts";
import { subtitleSeconds, subtitleWords } from "../../../src/dialect/media/subtitles.ts";
import { wavSeconds } from "../../../src/dialect/media/wav-duration.ts";
import { wav } from "./bodies.ts";

describe("a WAV lasts", () => {
  const ROWS: readonly (readonly [what: string, file: Uint8Array, seconds: number | null])[] = [
    ["its bytes by its samples, whatever rate of bytes it states", wav(32_000), 1],
    ["half as long in two channels", wav(32_000, { channels: 2 }), 0.5],
    ["by samples of 24 bits", wav(48_000, { bits: 24 }), 1],
    ["by the laws of telephony", wav(8_000, { codec: 7, samples: 8_000, bits: 8 }), 1],
    ["by fractions", wav(64_000, { codec: 3, bits: 32 }), 1],
    ["behind other chunks, odd ones padded", wav(16_000, { before: new Uint8Array(333) }), 0.5],
    ["what it says, when more follows", wav(32_000, { stated: 16_000 }), 0.5],
    [
      "what there is, when another chunk of sound follows",
      Buffer.concat([wav(16_000), wav(15_992).subarray(36)]),
      1,
    ],
    ["what there is, when it says more", wav(32_000, { stated: 0xffffffff }), 1],
    ["what there is, when it was written on the fly", wav(32_000, { stated: 0 }), 1],
    ["by the codec behind an extensible one", wav(32_000, { extensible: 1 }), 1],
    ["nobody knows how long: an extensible codec that packs", wav(32_000, { extensible: 0x55 }), null],
    ["nobody knows how long: a codec that packs", wav(32_000, { codec: 0x11 }), null],
    ["nobody knows how long: no samples a second", wav(32_000, { samples: 0 }), null],
    ["nobody knows how long: no sound", wav(0).subarray(0, 36), null],
    ["nobody knows how long: no WAV", new Uint8Array(100), null],
    ["nobody knows how long: nothing", new Uint8Array(0), null],
  ];
  for (const [what, file, seconds] of ROWS) {
    test(what, () => {
      expect(wavSeconds(file)).toBe(seconds);
    });
  }
  test("as long when only its beginning is at hand", () => {
    expect(wavSeconds(wav(32_000).subarray(0, 100), 32_044)).toBe(1);
  });
  test("a number or nothing, whatever its bytes", () => {
    const anything = fc.tuple(fc.nat(60), fc.uint8Array({ maxLength: 40 })).map(([at, bytes]) => {
      const file = Uint8Array.from(wav(64));
      file.set(bytes.subarray(0, file.length - at), at);
      return file;
    });
    fc.assert(
      fc.property(anything, (bytes) => {
        const seconds = wavSeconds(bytes);
        expect(seconds === null || (Number.isFinite(seconds) && seconds >= 0)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("spoken sound lasts", () => {
  const NONE = new Uint8Array(0);
  test.each([
    ["pcm", 96_000, 2],
    ["flac", 48_000, 2],
    ["mp3", 40_000, 2],
    ["aac", 32_000, 2],
    ["opus", 16_000, 2],
    ["constructor", 40_000, 2],
  ])("by the rate of %s", (form, bytes, seconds) => {
    expect(spokenSeconds(form, bytes, NONE)).toBe(seconds);
  });
  test("by its own header, if it is a WAV", () => {
    expect(spokenSeconds("mp3", 32_044, wav(32_000).subarray(0, 200))).toBe(1);
  });
  test("by the rate of its first frame, if it is an MP3: 64 kbit/s at 24,000 samples, 128 at 44,100", () => {
    expect(spokenSeconds("mp3", 8_000, Uint8Array.of(0xff, 0xf3, 0x84, 0xc4))).toBe(1);
    expect(spokenSeconds("mp3", 16_000, Uint8Array.of(0xff, 0xfb, 0x90, 0x64))).toBe(1);
  });
  test("by the first frame behind a tag", () => {
    const tagged = Uint8Array.of(73, 68, 51, 4, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfb, 0x90, 0x64);
    expect(spokenSeconds("mp3", 16_000, tagged)).toBe(1);
  });
  test("at most as long as 32 kbit/s last, when it was sent", () => {
    expect(secondsAtMost(new Uint8Array(4_000))).toBe(1);
  });
});

describe("subtitles", () => {
  const SRT = "1\n00:00:00,000 --> 00:00:02,500\nHello,\n\n2\n00:59:59,000 --> 01:00:03,040\nworld 2\n";
  const VTT = "WEBVTT\n\n00:00.000 --> 00:02.500\nHello,\n\n00:01.000 --> 01:02.750 align:start\nworld 2\n";
  test("end at their last stamp", () => {
    expect(subtitleSeconds(SRT)).toBeCloseTo(3_603.04, 6);
    expect(subtitleSeconds(VTT)).toBe(62.75);
    expect(subtitleSeconds(SRT.replaceAll("\n", "\r\n"))).toBeCloseTo(3_603.04, 6);
  });
  test("without a stamp end nowhere", () => {
    expect(subtitleSeconds("WEBVTT\n\nan arrow --> without stamps")).toBeNull();
    expect(subtitleSeconds("")).toBeNull();
  });
  test("say what is neither stamp nor number nor head", () => {
    expect(subtitleWords(SRT)).toBe("Hello,\nworld 2");
    expect(subtitleWords(VTT)).toBe("Hello,\nworld 2");
  });
});

test("characters are code points, halves of pairs that stand alone included", () => {
  expect(codePoints("aé漢😀")).toBe(4);
  expect(codePoints("")).toBe(0);
  expect(codePoints("\ud83d")).toBe(1);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => expect(codePoints(text)).toBe([...text].length)),
  );
});

describe("a voice message that was sent sounds", () => {
  const page = (samples: bigint, content: string): Buffer => {
    const head = Buffer.alloc(28);
    head.write("OggS");
    head.writeBigInt64LE(samples, 6);
    return Buffer.concat([head, Buffer.from(content)]);
  };
  const voice = (samples: bigint, head = "OpusHead") =>
    Buffer.concat([page(0n, head), page(samples, "x".repeat(4_000))]);
  const BY_SIZE = voice(0n).length / 4_000;
  test.each([
    ["as long as its last page says", voice(480_000n), 10],
    ["no less than its size may", voice(1n), BY_SIZE],
    ["no less where the page counts nothing", voice(-1n), BY_SIZE],
    ["never for weeks", voice(2n ** 62n), 360_000],
    ["by its size where it is of another codec", voice(480_000n, "vorbis!!"), BY_SIZE],
    ["by its size where its page is cut", voice(480_000n).subarray(0, 46), 46 / 4_000],
  ])("%s", (_, file, seconds) => {
    expect(secondsAtMost(file)).toBe(seconds);
  });
});
