// What a client may rely on in a responses stream. The checker folds the events into a response, throws at the first event
// that breaks a rule, and compares what it folded with the response of the last event.

import { expect } from "bun:test";
import type { Checked } from "./stream-grammar.ts";
import { eventsOf, type Row } from "./streams.ts";

export interface CheckedResponse extends Checked {
  /** Ends with `response.failed`. */
  readonly failures: number;
  /** The response of the last event; null when the stream has none. */
  readonly response: Row | null;
}

const ITEM_TYPES = ["message", "reasoning", "function_call", "custom_tool_call"];
const LAST: Readonly<Record<string, string>> = {
  "response.completed": "completed",
  "response.incomplete": "incomplete",
  "response.failed": "failed",
};

/** The item and part that are open while the events of a stream are folded. */
class Fold {
  readonly output: Row[] = [];
  item: Row | null = null;
  /** Where the deltas of the open part go, and the field with its text. */
  part: { readonly of: Row; readonly field: string; done: boolean } | null = null;

  /** Events of items and parts, by what follows `response.`. */
  readonly events: Readonly<Record<string, (event: Row) => void>> = {
    "output_item.added": (event) => {
      expect(this.item).toBeNull();
      expect(event.output_index).toBe(this.output.length);
      const item = structuredClone(event.item) as Row;
      expect(ITEM_TYPES).toContain(item.type as string);
      expect(item.id).toBeString();
      expect(item.encrypted_content).toBeUndefined();
      if (item.type === "message") expect(item).toMatchObject({ status: "in_progress", content: [] });
      else if (item.type === "reasoning") expect(item.summary).toEqual([]);
      else expect([item.call_id, item.name]).not.toContain("");
      this.item = item;
      this.part = null;
      if (item.type === "function_call") this.part = { of: item, field: "arguments", done: false };
      if (item.type === "custom_tool_call") this.part = { of: item, field: "input", done: false };
      if (this.part !== null) expect(item[(this.part as { field: string }).field]).toBe("");
    },
    "output_item.done": (event) => {
      this.place(event, false);
      const done = event.item as Row;
      const open = this.item!;
      if (open.type === "message") expect((open.content as Row[]).length).toBeGreaterThan(0);
      expect(this.part?.done ?? true).toBe(true);
      const { status, encrypted_content: carried, ...rest } = done;
      const { status: _, ...folded } = open;
      expect(rest).toEqual(folded);
      if (open.type === "reasoning") expect(carried).toBeString();
      else expect(carried).toBeUndefined();
      if ("status" in open) expect(["completed", "incomplete"]).toContain(status as string);
      this.output.push(done);
      this.item = null;
      this.part = null;
    },
    "content_part.added": (event) => this.begin(event, "message", "content", "content_index"),
    "content_part.done": (event) => this.end(event, "content", "content_index"),
    "reasoning_summary_part.added": (event) => this.begin(event, "reasoning", "summary", "summary_index"),
    "reasoning_summary_part.done": (event) => this.end(event, "summary", "summary_index"),
    "output_text.delta": (event) => this.say(event, "text", "content_index", event.delta),
    "output_text.done": (event) => this.whole(event, "text", event.text),
    "refusal.delta": (event) => this.say(event, "refusal", "content_index", event.delta),
    "refusal.done": (event) => this.whole(event, "refusal", event.refusal),
    "reasoning_summary_text.delta": (event) => this.say(event, "text", "summary_index", event.delta),
    "reasoning_summary_text.done": (event) => this.whole(event, "text", event.text),
    "function_call_arguments.delta": (event) => this.say(event, "arguments", null, event.delta),
    "function_call_arguments.done": (event) => {
      expect(event.name).toBe(this.item!.name);
      this.whole(event, "arguments", event.arguments);
    },
    "custom_tool_call_input.delta": (event) => this.say(event, "input", null, event.delta),
    "custom_tool_call_input.done": (event) => this.whole(event, "input", event.input),
  };

  /** The event belongs to the open item. */
  private place(event: Row, named = true): void {
    expect(this.item).not.toBeNull();
    expect(event.output_index).toBe(this.output.length);
    if (named) expect(event.item_id).toBe(this.item!.id);
  }

  private begin(event: Row, type: string, list: "content" | "summary", index: string): void {
    this.place(event);
    expect(this.item!.type).toBe(type);
    expect(this.part).toBeNull();
    const parts = this.item![list] as Row[];
    expect(event[index]).toBe(parts.length);
    const part = structuredClone(event.part) as Row;
    const field = part.type === "refusal" ? "refusal" : "text";
    expect(part[field]).toBe("");
    parts.push(part);
    this.part = { of: part, field, done: false };
  }

  private say(event: Row, field: string, index: string | null, delta: unknown): void {
    this.place(event);
    expect(this.part).toMatchObject({ field, done: false });
    if (index !== null) expect(event[index]).toBe(this.parts.length - 1);
    expect(delta).toBeString();
    expect(delta).not.toBe("");
    const { of } = this.part!;
    of[field] = (of[field] as string) + (delta as string);
  }

  /** The text of a done event is that of its deltas. */
  private whole(event: Row, field: string, text: unknown): void {
    this.place(event);
    expect(this.part).toMatchObject({ field, done: false });
    expect(text).toBe(this.part!.of[field]);
    this.part!.done = true;
  }

  private end(event: Row, list: "content" | "summary", index: string): void {
    this.place(event);
    expect(this.part?.done).toBe(true);
    expect(event[index]).toBe(this.parts.length - 1);
    expect(event.part).toEqual((this.item![list] as Row[]).at(-1));
    this.part = null;
  }

  private get parts(): Row[] {
    return (this.item!.content ?? this.item!.summary) as Row[];
  }
}

/** The rules of a responses stream. */
export function properResponses(out: string): CheckedResponse {
  for (const frame of out.split("\n\n"))
    expect(frame).toMatch(/^(|: [^\n]*|event: ([\w.]+)\ndata: \{"type":"\2"[^\n]*\})$/);
  const events = eventsOf(out);
  const fold = new Fold();
  let response: Row | null = null;
  let [endings, failures] = [0, 0];
  for (const [nth, event] of events.entries()) {
    const type = String(event.type);
    expect(event.sequence_number).toBe(nth);
    expect(endings + failures).toBe(0);
    if (nth < 2) {
      expect(type).toBe(nth === 0 ? "response.created" : "response.in_progress");
      expect(event.response).toMatchObject({ status: "in_progress", output: [], usage: null, error: null });
    } else if (LAST[type] !== undefined) {
      response = event.response as Row;
      expect(response).toMatchObject({ status: LAST[type], id: "resp_A1" });
      if (type === "response.failed") {
        failures++;
        expect(response.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
        const open = fold.item === null ? [] : [fold.item];
        expect(plainItems(response.output as Row[])).toEqual(plainItems([...fold.output, ...open]));
      } else {
        endings++;
        expect(fold.item).toBeNull();
        expect(response.output).toEqual(fold.output);
        expect(response).toMatchObject({
          error: null,
          usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
        });
        expect(response.incomplete_details === null).toBe(type === "response.completed");
      }
    } else {
      const known = fold.events[type.slice("response.".length)];
      expect([type, known === undefined]).toEqual([type, false]);
      known!(event);
    }
  }
  return {
    ...contentOf(fold.item === null ? fold.output : [...fold.output, fold.item]),
    ...{ endings, failures, response },
  };
}

/** Items without what only their end says. */
const plainItems = (items: readonly Row[]): Row[] =>
  items.map(({ status: _, encrypted_content: __, ...rest }) => rest);

/** What the items of an output say. */
export function contentOf(output: readonly Row[]) {
  const parts = output.flatMap(({ content, summary }) => (content ?? summary ?? []) as Row[]);
  const joined = (...types: string[]) =>
    parts.map((one) => (types.includes(one.type as string) ? (one.text ?? one.refusal) : "")).join("");
  const calls = output
    .filter(({ call_id }) => call_id !== undefined)
    .map(({ call_id, name, arguments: json, input }) => ({
      id: String(call_id),
      name: String(name),
      given: String(json ?? input),
    }));
  return { text: joined("output_text", "refusal"), thinking: joined("summary_text"), calls };
}
