// Whatever a client or a provider sends, no dialect throws, and what it makes of it is proper.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chat } from "../../src/dialect/chat/chat.ts";
import type { Dialect } from "../../src/dialect/dialect.ts";
import { countTokens, messages } from "../../src/dialect/messages/messages.ts";
import { jsonPayload } from "../../src/dialect/payload/payload-json.ts";
import { responses } from "../../src/dialect/responses/responses.ts";
import { madeBy, referencesOf } from "../../src/dialect/responses/responses-objects.ts";
import { completions } from "../../src/dialect/text/completions.ts";
import { embeddings } from "../../src/dialect/text/embeddings.ts";
import { moderations } from "../../src/dialect/text/moderations.ts";
import { rerank } from "../../src/dialect/text/rerank.ts";
import { ask, read } from "./asking.ts";

const MESSAGES = [{ role: "user", content: "hi" }];
const DIALECTS: readonly (readonly [name: string, dialect: Dialect, least: object])[] = [
  ["chat", chat, { model: "m", messages: MESSAGES }],
  ["messages", messages, { model: "m", messages: MESSAGES, max_tokens: 5 }],
  ["countTokens", countTokens, { model: "m", messages: MESSAGES }],
  ["responses", responses, { model: "m", input: "hi" }],
  ["completions", completions, { model: "m", prompt: "hi" }],
  ["embeddings", embeddings, { model: "m", input: "hi" }],
  ["rerank", rerank, { model: "m", query: "q", documents: ["a"] }],
  ["moderations", moderations, { input: "hi" }],
];

/** Names and words that some dialect looks for, so that hostile values stand where they hurt. */
const word = fc.oneof(
  fc.constantFrom(
    ..."model messages input prompt tools query documents stream stream_options n best_of max_tokens".split(
      " ",
    ),
    ..."conversation previous_response_id id type role content text delta item response output usage".split(
      " ",
    ),
    ..."error status choices data results meta billed_units action arguments name output_index".split(" "),
    ..."sequence_number summary message code".split(" "),
  ),
  fc.constantFrom(
    "",
    ..."__proto__ constructor item_reference web_search_call function_call failed".split(" "),
  ),
  fc.constantFrom("response.completed", "response.failed", "response.output_item.done", "x.delta", "error"),
);
const { any } = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      word,
      fc.constantFrom(null, true, false, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER),
      fc.string(),
    ),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(word, tie("any"), { maxKeys: 5, noNullPrototype: true }),
  ),
}));
const object = fc.dictionary(word, any, { maxKeys: 6, noNullPrototype: true });

describe.each(DIALECTS)("%s", (_name, dialect, least) => {
  test("reads any request, or says what is wrong", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          any,
          object.map((extra) => ({ ...least, ...extra })),
        ),
        (body) => {
          const parsed = dialect.parse(jsonPayload(JSON.stringify(body)));
          if (!parsed.ok) return expect(parsed.refusal.message).toStartWith(parsed.refusal.field);
          const { request } = parsed;
          for (const figure of [request.n, request.promptBytes, request.images, request.files]) {
            expect(Number.isSafeInteger(figure) && figure >= 0).toBe(true);
          }
          for (const text of dialect.promptTexts(request)) expect(typeof text).toBe("string");
          const sent = dialect.upstreamBody(request, { model: "n", add: {} });
          expect(JSON.parse(String(sent)).model).toBe("n");
        },
      ),
      { numRuns: 300 },
    );
  });
  test.each([
    ["Model", "model"],
    ["MODEL", "model"],
    ["\u017ftream", "stream"],
  ])("refuses %s, which some hosts read as %s", (name, field) => {
    const parsed = dialect.parse(jsonPayload(JSON.stringify({ ...least, [name]: "x", Other: 1 })));
    expect(parsed).toMatchObject({ ok: false, refusal: { code: "invalid_parameter", field } });
  });
  test("reads any answer, or says that it is none", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          any.map((one) => JSON.stringify(one)),
          fc.string(),
        ),
        (text) => {
          const answer = read(dialect, least, text);
          if (!answer.ok) return expect(["error_body", "server_error"]).toContain(answer.fault);
          for (const one of answer.texts) expect(typeof one).toBe("string");
          expect(dialect.withFingerprint(text, answer.body, null)).toBe(text);
        },
      ),
      { numRuns: 300 },
    );
  });
  test("reads any stream, and ends it once", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.oneof(any, object), word), { maxLength: 8 }), (events) => {
        const stream = dialect.stream({ includeUsage: false, fingerprint: null });
        const kinds = events.map(([event, name]) => stream.feedData(JSON.stringify(event), name).kind);
        const ends = kinds.filter((kind) => kind === "done" || kind === "error");
        expect(ends.length).toBeLessThanOrEqual(1);
        if (ends.length === 1) {
          const behind = kinds.slice(kinds.indexOf(ends[0]!) + 1);
          expect(behind.every((kind) => kind === "withheld")).toBe(true);
        }
        expect(stream.chars).toBe(stream.texts().join("").length);
        expect(["complete", "broken", "empty"]).toContain(stream.outcome(true));
      }),
      { numRuns: 300 },
    );
  });
  test("takes an answer nested beyond all measure for none", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const item = `{"type":"x","content":${deep},"action":${deep},"input":${deep},"summary":${deep}}`;
    const lists = ["choices", "content", "output", "data", "results"];
    const text = `{${lists.map((list) => `"${list}":[${item}]`).join(",")},"input_tokens":1}`;
    expect(read(dialect, least, text)).toEqual({ ok: false, fault: "server_error" });
    const stream = dialect.stream({ includeUsage: true, fingerprint: null });
    const event = `{"type":"response.output_item.done","item":${item},"choices":[{"delta":${item}}]}`;
    expect(stream.feedData(event, "").kind).toBe("error");
  });
});

test("ids are strings, each once, whatever refers to them", () => {
  fc.assert(
    fc.property(object, (body) => {
      for (const ids of [[...referencesOf(body).keys()], madeBy(body)]) {
        expect(new Set(ids).size).toBe(ids.length);
        for (const id of ids) expect(typeof id === "string" && id !== "").toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

test("what a request refers to is what its rules let through: nothing else would be looked up", () => {
  const REFERRING = [{ id: "x" }, { id: "x", type: null }, { id: "x", type: "item_reference", content: "y" }];
  for (const item of REFERRING) {
    const body = ask(responses, { model: "m", input: [item] }).payload.value;
    expect([...referencesOf(body as never)]).toEqual([["x", "input"]]);
  }
});
