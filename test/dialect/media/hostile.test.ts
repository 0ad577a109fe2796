// Nothing that a client or a provider can say makes the dialects of images and audio throw.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { images, imageVariations } from "../../../src/dialect/media/images.ts";
import { speech } from "../../../src/dialect/media/speech.ts";
import { transcriptions, translations } from "../../../src/dialect/media/transcriptions.ts";
import { file, form, json } from "./bodies.ts";

const DIALECTS = { images, imageVariations, speech, transcriptions, translations };
const names = fc.constantFrom(
  ..."model prompt input n size quality stream speed response_format images data".split(" "),
  ..."text duration segments words end usage error type audio delta __proto__".split(" "),
);
const value = fc.oneof(
  fc.constantFrom("m", "srt", "sse", "speech.audio.delta"),
  fc.constantFrom(true, 2, 0, -1, Number.POSITIVE_INFINITY, null, [], {}, [null], [{ end: "x" }]),
  fc.anything({ maxDepth: 2 }),
);
const body = fc.oneof(fc.dictionary(names, value, { maxKeys: 6 }), fc.jsonValue());
const read = JSON.stringify;

const asked = async () => {
  const sound = [
    ["file", file("x")],
    ["model", "m"],
  ] as const;
  const requests = [
    images.parse(json({ model: "m", prompt: "x" })),
    speech.parse(json({ model: "m", input: "x" })),
    transcriptions.parse(await form(sound)),
    transcriptions.parse(await form([...sound, ["response_format", "srt"]])),
  ];
  return requests.map((one) => {
    if (!one.ok) throw new Error(one.refusal.message);
    return one.request;
  });
};
const textOf = (given: unknown): string => {
  const text = read(given, (_key, one) => (typeof one === "bigint" ? `${one}` : one));
  return text ?? "null";
};

describe.each(Object.entries(DIALECTS))("%s", (_name, dialect) => {
  test("parse any JSON, and what they take they can send and count", () => {
    fc.assert(
      fc.property(body, (given) => {
        const parsed = dialect.parse(json(JSON.parse(textOf(given))));
        if (!parsed.ok) {
          expect(parsed.refusal.message).toStartWith(parsed.refusal.field);
          return;
        }
        expect(Number.isFinite(parsed.request.promptBytes)).toBe(true);
        for (const text of dialect.promptTexts(parsed.request)) expect(typeof text).toBe("string");
        expect(dialect.upstreamBody(parsed.request, { model: "n", add: {} })).toBeTruthy();
      }),
      { numRuns: 300 },
    );
  });
  test("read any answer", async () => {
    const requests = await asked();
    const types = fc.constantFrom("application/json", "text/plain", "audio/mpeg", "", "text/html");
    fc.assert(
      fc.property(
        fc.oneof(body.map(textOf), fc.string()),
        types,
        fc.constantFrom(...requests),
        (text, contentType, request) => {
          const sound = { bytes: text.length, beginning: Buffer.from(text) };
          const answer = dialect.readAnswer({ text, contentType, sound }, request);
          if (!answer.ok) return;
          const { seconds = 1, calls = 1 } = answer.measured;
          expect(seconds > 0 && seconds < 1e9 && calls >= 0).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
  test("feed on any events", () => {
    const event = fc.tuple(
      fc.oneof(body.map(textOf), fc.string()),
      fc.constantFrom("", "error", "transcript.text.done"),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 6 }), fc.boolean(), (events, clean) => {
        const stream = dialect.stream({ includeUsage: true, fingerprint: null });
        for (const [data, name] of events) expect(typeof stream.feedData(data, name).kind).toBe("string");
        expect(["complete", "broken", "empty"]).toContain(stream.outcome(clean));
        expect(stream.texts().join("").length).toBeLessThanOrEqual(stream.chars);
      }),
      { numRuns: 300 },
    );
  });
});
