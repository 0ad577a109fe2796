// The table's rows of the other paths: responses, old completions, vectors, pictures, sounds, ranks, verdicts.

import { expect } from "bun:test";
import { expectCost, expectExact, OPENAI, type Row, sentIn } from "./rows.ts";
import type { ClientName } from "./script.ts";

const VERCEL: ClientName = "vercel, chat";
const LANGCHAIN: ClientName = "langchain, chat";

type Described = Omit<Row, "routes" | "clients"> & { readonly also?: readonly ClientName[] };

/** The makers' SDK, and whichever else asks it. Nothing of this is translated. */
const row = ({ also = [], ...described }: Described): Row => ({
  clients: [...OPENAI, ...also],
  routes: ["same"],
  ...described,
});

/** Six seconds of sound at a hundred thousand nano-dollars each. */
const TRANSCRIPT_NANO = 600_000;

export const ENDPOINTS: readonly Row[] = [
  row({
    scenario: "responses",
    description: "a response, and one that goes on from it",
    also: [VERCEL, LANGCHAIN],
    said: "hi there [[output=3]]",
    expect(left) {
      expect(left.seen).toMatchObject({ text: "hi there time", again: "and on" });
      expect(sentIn(left.calls[1])).toContain('"previous_response_id":"resp_');
      expectExact(left, 2);
    },
  }),
  row({
    scenario: "responses_streamed",
    description: "a response in events",
    also: [VERCEL],
    said: "hi there [[output=3]]",
    expect(left) {
      expect(left.seen).toMatchObject({ text: "hi there time", alike: true });
      expectExact(left);
    },
  }),
  row({
    scenario: "responses_kept",
    description: "a response can be had again, and deleted",
    said: "hi there [[output=3]]",
    expect({ seen, lines }) {
      expect(seen).toEqual({ alike: true, gone: "NotFoundError" });
      expect(lines).toHaveLength(1);
    },
  }),
  row({
    scenario: "completions",
    description: "an old completion",
    said: "hi there [[output=3]]",
    expect(left) {
      expect(left.seen.text).toBe("hi there time");
      expectExact(left);
    },
  }),
  row({
    scenario: "completions_streamed",
    description: "an old completion in events",
    said: "hi there [[output=3]]",
    expect(left) {
      expect(left.seen.text).toBe("hi there time");
      expectExact(left);
    },
  }),
  row({
    scenario: "embeddings",
    description: "vectors of two texts",
    also: [VERCEL, LANGCHAIN],
    model: "text-embedding-3-small",
    said: "one two [[prompt=500]]",
    expect(left) {
      const { lengths, tokens = [500, 0] } = left.seen;
      expect([lengths, tokens]).toEqual([
        [8, 8],
        [500, 0],
      ]);
      expectCost(left, 500 * 20);
    },
  }),
  row({
    scenario: "images",
    description: "a picture by its description",
    also: [VERCEL],
    model: "gpt-image-1",
    said: "a boat [[prompt=50 output=272]]",
    expect(left) {
      expect(left.seen).toEqual({ kind: "PNG", tokens: [50, 272] });
      expectCost(left, 50 * 5_000 + 272 * 40_000);
    },
  }),
  row({
    scenario: "images_streamed",
    description: "a picture in events, an early one and the last",
    model: "gpt-image-1",
    said: "a boat [[prompt=50 output=272]]",
    expect(left) {
      expect(left.seen).toEqual({ events: 2, kind: "PNG", tokens: [50, 272] });
      expectCost(left, 50 * 5_000 + 272 * 40_000);
    },
  }),
  row({
    scenario: "image_edit",
    description: "a picture made of two files",
    also: [VERCEL],
    model: "gpt-image-1",
    said: "a boat [[prompt=250 image_in=200 output=272]]",
    expect(left) {
      expect(left.seen).toEqual({ kind: "PNG", tokens: [250, 272] });
      expect(left.calls[0]!.files).toHaveLength(2);
      expectCost(left, 50 * 5_000 + 200 * 10_000 + 272 * 40_000);
    },
  }),
  row({
    scenario: "speech",
    description: "a text spoken",
    also: [VERCEL],
    model: "tts-1",
    said: "hello there [[kb=3]]",
    expect(left) {
      expect(left.seen.bytes).toBeWithin(3 * 1024, 4 * 1024);
      expectCost(left, "hello there [[kb=3]]".length * 15_000);
    },
  }),
  row({
    scenario: "transcription",
    description: "a sound file in words",
    also: [VERCEL],
    model: "whisper-1",
    said: "hello there",
    expect(left) {
      expect(left.seen.text).toMatch(/\w+ \w+/);
      expect(left.calls[0]!.files).toMatchObject([{ field: "file", sizeBytes: 96_044 }]);
      expectCost(left, TRANSCRIPT_NANO);
    },
  }),
  row({
    scenario: "transcription_verbose",
    description: "the same with its seconds",
    model: "whisper-1",
    said: "hello there",
    expect(left) {
      expect(left.seen).toMatchObject({ text: expect.stringMatching(/\w+ \w+/), duration: 6 });
      expect(left.seen.segments).toBeGreaterThan(0);
      expectCost(left, TRANSCRIPT_NANO);
    },
  }),
  row({
    scenario: "transcription_srt",
    description: "the same as subtitles",
    model: "whisper-1",
    said: "hello there",
    expect(left) {
      expect(left.seen.text).toMatch(/^1\r?\n00:00:00,000 --> 00:00:0\d,\d{3}\r?\n\w+/);
      expectCost(left, TRANSCRIPT_NANO);
    },
  }),
  row({
    scenario: "moderations",
    description: "a verdict on a text",
    model: "omni-moderation-latest",
    said: "nothing bad",
    expect(left) {
      expect(left.seen).toEqual({ flagged: [false] });
      expectCost(left, 1_000_000);
    },
  }),
  {
    scenario: "rerank",
    description: "texts in order of what they say to a question",
    clients: ["fetch"],
    routes: ["same"],
    model: "rerank-v3.5",
    said: "said",
    expect(left) {
      expect(left.seen).toMatchObject({ status: 200, units: 1 });
      expect(left.seen.indexes).toHaveLength(2);
      expectCost(left, 2_000_000);
    },
  },
];
