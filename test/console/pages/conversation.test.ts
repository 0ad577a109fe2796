// The conversation of the playground: what its next request has, and how an exchange follows its stream.

import { expect, test } from "bun:test";
import { toNanos } from "../../../console/api/amount.ts";
import {
  begun,
  chatBodyOf,
  type Exchange,
  ended,
  isAnswerMax,
  repeatOf,
  verdictOf,
  withEvent,
} from "../../../console/pages/playground/conversation.ts";

const SETTINGS = { instructions: "", answerMax: "" };
const OTHER = { id: "deepseek-chat", provider: "deepseek" };
const SENT = { id: "one", asked: "Hi", model: "m", body: {}, quote: null, before: null };
const answered = (asked: string, answer: string): Exchange => ({ ...begun({ ...SENT, asked }), answer });

test("the next request has what was said, but for questions without an answer", () => {
  const said = [answered("One?", "1"), answered("Refused?", ""), answered("Two?", "2")];
  const { messages } = chatBodyOf(OTHER, { instructions: " Be short. ", answerMax: "" }, said, " Three? ");
  expect(messages).toEqual([
    { role: "system", content: "Be short." },
    { role: "user", content: "One?" },
    { role: "assistant", content: "1" },
    { role: "user", content: "Two?" },
    { role: "assistant", content: "2" },
    { role: "user", content: "Three?" },
  ]);
});

test("the longest answer stands under the name that the model takes", () => {
  const settings = { ...SETTINGS, answerMax: "200" };
  expect(chatBodyOf({ id: "fast", provider: "openai" }, settings, [], "Hi")).toHaveProperty(
    "max_completion_tokens",
    200,
  );
  expect(chatBodyOf({ id: "o4-mini", provider: "" }, settings, [], "Hi")).toHaveProperty(
    "max_completion_tokens",
  );
  expect(chatBodyOf(OTHER, settings, [], "Hi")).toHaveProperty("max_tokens", 200);
  expect(chatBodyOf(OTHER, SETTINGS, [], "Hi")).not.toHaveProperty("max_tokens");
  expect(["", "1", "64000"].filter(isAnswerMax).length).toBe(3);
  expect(["0", "-1", "1.5", "many"].filter(isAnswerMax)).toEqual([]);
});

test("an exchange is done only when its stream said so", () => {
  const words = ["Hel", "lo"].map((text) => ({ kind: "answer", text }) as const);
  const withWords = words.reduce<Exchange>(withEvent, begun(SENT));
  expect(withWords).toMatchObject({ state: "answering", answer: "Hello" });
  expect(ended(withWords, 5)).toMatchObject({ state: "failed", failure: { kind: "unknown" }, endedAt: 5 });
  expect(ended(withEvent(withWords, { kind: "end" }), 5)).toMatchObject({ state: "done", failure: null });
  const broken = withEvent(withWords, { kind: "error", code: "upstream_failed", message: "It broke." });
  expect(ended(broken, 5)).toMatchObject({
    state: "failed",
    answer: "Hello",
    failure: { code: "upstream_failed", requestId: "one" },
  });
});

test("a charge lies inside its quote, above or below it", () => {
  const range = { min: toNanos(10n), max: toNanos(20n) };
  const verdicts = [9n, 10n, 20n, 21n].map((cost) => verdictOf(toNanos(cost), range));
  expect(verdicts).toEqual(["below", "inside", "inside", "above"]);
});

test("what failed is repeated under its own id only while nobody knows what became of it", () => {
  const lost = ended(begun(SENT), 5);
  expect(repeatOf(lost, "two", null)).toMatchObject({ sent: { id: "one", asked: "Hi" }, instead: "one" });
  const refused = { kind: "error", code: "upstream_failed", message: "It broke." } as const;
  const empty = withEvent(begun(SENT), refused);
  expect(repeatOf(empty, "two", null)).toMatchObject({ sent: { id: "two" }, instead: "one" });
  const partly = withEvent(answered("Hi", "Hel"), refused);
  expect(repeatOf(partly, "two", null)).toMatchObject({ sent: { id: "two" }, instead: null });
});
