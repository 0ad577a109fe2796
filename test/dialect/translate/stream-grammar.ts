// What a client may rely on in a stream of either dialect. A checker throws at the first event that breaks a rule, and
// answers what the stream said. A stream that was cut off, or ended with an error, keeps the rules as far as it goes.

import { expect } from "bun:test";
import { eventsOf, type Row } from "./streams.ts";

export interface Content {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly given: string }[];
}

export interface Checked extends Content {
  /** Closing events. */
  readonly endings: number;
}

const DELTA_OF: Readonly<Record<string, readonly string[]>> = {
  text: ["text_delta"],
  thinking: ["thinking_delta", "signature_delta"],
  tool_use: ["input_json_delta"],
};

/** The rules of a messages stream. */
export function properMessages(out: string): Checked {
  for (const frame of out.split("\n\n"))
    expect(frame).toMatch(/^(|: [^\n]*|event: (\w+)\ndata: \{"type":"\2"[^\n]*\})$/);
  const events = eventsOf(out);
  const found = {
    text: "",
    thinking: "",
    calls: [] as { id: string; name: string; given: string }[],
    endings: 0,
  };
  let open: string | null = null;
  let signed = false;
  let next = 0;
  let state: "before" | "content" | "ending" | "over" = "before";
  const blocks: Readonly<Record<string, (event: Row) => void>> = {
    content_block_start({ index, content_block }) {
      expect(open).toBeNull();
      expect(index).toBe(next++);
      const block = content_block as Row;
      open = block.type as string;
      signed = false;
      expect(Object.keys(DELTA_OF)).toContain(open);
      if (open === "tool_use")
        found.calls.push({ id: String(block.id), name: String(block.name), given: "" });
      if (open === "tool_use") expect([block.id, block.name]).not.toContain("");
    },
    content_block_delta({ index, delta }) {
      const { type, text, thinking, partial_json } = delta as Row;
      expect(index).toBe(next - 1);
      expect(DELTA_OF[open ?? ""]).toContain(type as string);
      expect(signed).toBe(false);
      if (type === "signature_delta") signed = true;
      if (type === "text_delta") found.text += text;
      if (type === "thinking_delta") found.thinking += thinking;
      if (type === "input_json_delta") found.calls.at(-1)!.given += partial_json;
    },
    content_block_stop({ index }) {
      expect(index).toBe(next - 1);
      expect(open).not.toBeNull();
      if (open === "thinking") expect(signed).toBe(true);
      open = null;
    },
  };
  for (const event of events) {
    const type = String(event.type);
    if (type === "message_start") {
      expect(state).toBe("before");
      state = "content";
    } else if (type === "message_delta") {
      expect([state, open]).toEqual(["content", null]);
      expect(event).toMatchObject({
        delta: { stop_reason: expect.any(String) },
        usage: { output_tokens: expect.any(Number) },
      });
      state = "ending";
    } else if (type === "message_stop") {
      expect(state).toBe("ending");
      state = "over";
      found.endings++;
    } else {
      expect(state).toBe("content");
      expect(Object.keys(blocks)).toContain(type);
      blocks[type]!(event);
    }
  }
  return found;
}

/** The rules of a chat stream. */
export function properChat(out: string): Checked {
  for (const frame of out.split("\n\n")) expect(frame).toMatch(/^(|: [^\n]*|data: (\{[^\n]*\}|\[DONE\]))$/);
  const found = {
    text: "",
    thinking: "",
    calls: [] as { id: string; name: string; given: string }[],
    endings: 0,
  };
  let finished = false;
  for (const [nth, event] of eventsOf(out).entries()) {
    expect(event).toMatchObject({ id: "chatcmpl-A1", object: "chat.completion.chunk" });
    expect("error" in event).toBe(false);
    const [choice] = event.choices as Row[];
    if (choice === undefined) {
      expect(finished).toBe(true);
      expect(event).toMatchObject({ usage: { total_tokens: expect.any(Number) } });
      continue;
    }
    expect(finished).toBe(false);
    const { role, content, reasoning_content, tool_calls } = choice.delta as Row;
    expect(role).toBe(nth === 0 ? "assistant" : undefined);
    found.text += content ?? "";
    found.thinking += reasoning_content ?? "";
    for (const { index, id, function: called } of (tool_calls ?? []) as Row[]) {
      const { name, arguments: given } = called as { name?: string; arguments: string };
      if (id !== undefined) {
        expect(index).toBe(found.calls.length);
        found.calls.push({ id: String(id), name: String(name), given: "" });
      }
      found.calls[index as number]!.given += given;
    }
    if (choice.finish_reason !== null) finished = true;
  }
  found.endings = out.split("data: [DONE]\n\n").length - 1;
  if (found.endings > 0) {
    expect(finished).toBe(true);
    expect(out.endsWith("data: [DONE]\n\n")).toBe(true);
  }
  return found;
}
