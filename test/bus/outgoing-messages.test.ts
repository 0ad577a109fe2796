// What one turn sends to the same receiver is one message while it has room, and nothing joins a message that is gone.

import { describe, expect, test } from "bun:test";
import { FramePart, framePartsOf, HEAD, KIND, reasonPart } from "../../src/bus/frame-parts.ts";
import type { GrowingMessage } from "../../src/bus/nats-connection.ts";
import { OutgoingMessages } from "../../src/bus/outgoing-messages.ts";

/** Messages of 40 characters at most, which are held until they are sent. */
function outgoing() {
  const held: { subject: string; message: GrowingMessage; reply: string | undefined }[] = [];
  let unsent = 0;
  const link = {
    send: (subject: string, message: string | GrowingMessage, reply?: string) =>
      void held.push({ subject, message: message as GrowingMessage, reply }),
    countUnsent: (length: number) => {
      unsent += length;
    },
  };
  const messages = new OutgoingMessages(
    link,
    () => 40,
    (number) => `reply.${number}`,
  );
  /** The messages of a turn: subject, reply subject, and the texts of their parts. */
  const sent = () =>
    held
      .splice(0)
      .map(({ subject, message, reply }) => [
        subject,
        reply,
        framePartsOf(message.close()).map(({ text }) => text),
      ]);
  return { messages, sent, unsent: () => unsent };
}

describe("the messages of a turn", () => {
  test("carry all frames to the same receiver, with their ids, in order", () => {
    const { messages, sent, unsent } = outgoing();
    expect(messages.sendFrame("a", 1, "one")).toBe(1);
    expect(messages.sendFrame("b", 2, "two")).toBe(2);
    expect(messages.sendPart("a", reasonPart(KIND.busy, 3))).toBe(1);
    expect(unsent()).toBe(3 * HEAD + 6);
    expect(sent()).toEqual([
      ["a", "reply.1", ["one", ""]],
      ["b", "reply.2", ["two"]],
    ]);
  });

  test("are another one when there is no room, and in another turn", () => {
    const { messages, sent } = outgoing();
    const numbers = [1, 2, 3].map((id) => messages.sendPart("a", new FramePart(KIND.frame, id, "text")));
    expect(numbers).toEqual([1, 1, 2]);
    expect(sent()).toEqual([
      ["a", "reply.1", ["text", "text"]],
      ["a", "reply.2", ["text"]],
    ]);
    expect(messages.sendFrame("a", 4, "next")).toBe(3);
    expect(sent()).toEqual([["a", "reply.3", ["next"]]]);
  });

  test("carry the pieces of a longer frame each by itself, under a number that no other frame has", () => {
    const { messages, sent, unsent } = outgoing();
    expect(messages.sendFrame("a", 1, "before")).toBe(1);
    expect(messages.sendFrame("a", 2, "x".repeat(60))).toBe(2);
    expect(messages.sendFrame("a", 3, "after")).toBe(3);
    expect(unsent()).toBe(5 * HEAD + 71);
    expect(sent()).toEqual([
      ["a", "reply.1", ["before"]],
      ["a", "reply.2", ["x".repeat(26)]],
      ["a", "reply.2", ["x".repeat(26)]],
      ["a", "reply.2", ["x".repeat(8)]],
      ["a", "reply.3", ["after"]],
    ]);
  });

  test("that are closed before they are sent, as when the connection breaks, take nothing more", () => {
    const { messages, sent } = outgoing();
    messages.sendFrame("a", 1, "lost");
    sent();
    expect(messages.sendFrame("a", 2, "new")).toBe(2);
    expect(sent()).toEqual([["a", "reply.2", ["new"]]]);
  });
});
