// The contract of a bus as code: every bus runs these rules, and a rule added here binds all of them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Bus, TooLarge, Unreachable } from "../../src/bus/bus.ts";

/** Runs every rule of the contract, each on a bus of its own. `delivered` resolves when what was published has arrived. */
export function testBus(name: string, open: () => Promise<Bus>, delivered: () => Promise<void>): void {
  describe(name, () => {
    let bus: Bus;
    beforeEach(async () => {
      bus = await open();
    });
    afterEach(() => bus.close());

    /** What a subscriber receives of these topics. */
    async function received(subscription: string, topics: readonly string[]): Promise<string[]> {
      const got: string[] = [];
      bus.subscribe(subscription, (topic) => got.push(topic));
      await delivered();
      for (const topic of topics) bus.publish(topic, "1");
      await delivered();
      return got;
    }

    test("a request reaches the node that serves, and its answer comes back", async () => {
      await bus.serve("a", async (frame) => `${frame}9`);
      expect(await bus.request("a", "12", 1_000)).toBe("129");
      expect(await bus.request("a", "", 1_000)).toBe("9");
    });

    test("a request to a node that nobody serves is unreachable: certainly not executed", async () => {
      await bus.serve("a", async (frame) => frame);
      expect(bus.request("b", "1", 1_000)).rejects.toBeInstanceOf(Unreachable);
    });

    test("requests under way at once get each their own answer", async () => {
      await bus.serve("a", async (frame) => frame);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => bus.request("a", String(i), 1_000)),
      );
      expect(answers).toEqual(Array.from({ length: 50 }, (_, i) => String(i)));
    });

    test("what is published reaches every subscriber of its topic, in order, with the frame", async () => {
      const got: [string, number][] = [];
      bus.subscribe("owner.2", (topic, frame) => got.push([topic, Number(frame)]));
      bus.subscribe("owner.2", (topic, frame) => got.push([topic, Number(frame) + 100]));
      await delivered();
      for (const value of [1, 2]) bus.publish("owner.2", String(value));
      await delivered();
      const first = got.filter(([, value]) => value < 100);
      expect(first).toEqual([
        ["owner.2", 1],
        ["owner.2", 2],
      ]);
      expect(got).toHaveLength(4);
    });

    test.each([
      ["owner.2", ["owner.2", "owner.22", "owner", "owner.2.x", "level.2"], ["owner.2"]],
      ["owner.>", ["owner.2", "owner.2.x", "owner", "owners.2", "level.2"], ["owner.2", "owner.2.x"]],
      ["level.2.>", ["level.2.0", "level.2", "level.20.0"], ["level.2.0"]],
    ])(
      "a subscription of %p hears what it names, and nothing else",
      async (subscription, topics, expected) => {
        expect(await received(subscription, topics)).toEqual(expected);
      },
    );

    test("an unsubscribed listener hears nothing more, though others do", async () => {
      const got: string[] = [];
      const stop = bus.subscribe("a", () => got.push("gone"));
      bus.subscribe("a", () => got.push("stays"));
      await delivered();
      stop();
      stop();
      bus.publish("a", "1");
      await delivered();
      expect(got).toEqual(["stays"]);
    });

    test("what nobody listens to is dropped", async () => {
      bus.publish("nobody", "1");
      await delivered();
      expect(await received("nobody", [])).toEqual([]);
    });

    test("a frame may be any text that UTF-8 can encode", async () => {
      await bus.serve("a", async (frame) => frame);
      for (const text of ["\u0000\r\n", "\ufeffé€", "👩‍👩‍👧".repeat(1_000)]) {
        expect(await bus.request("a", text, 1_000)).toBe(text);
      }
    });

    test("a request may be answered at once", async () => {
      await bus.serve("a", (frame) => `${frame}!`);
      expect(await bus.request("a", "now", 1_000)).toBe("now!");
      await bus.serve("a", () => {
        throw new Error("broken");
      });
      const failed = await bus.request("a", "now", 1_000).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(Error);
      expect(failed).not.toBeInstanceOf(Unreachable);
    });

    test("it says how large a frame may be, and carries one of that size", async () => {
      const frame = "é".repeat(bus.frameLengthMax);
      await bus.serve("a", async (got) => `${got.length} ${got.at(-1)}`);
      expect(await bus.request("a", frame, 20_000)).toBe(`${bus.frameLengthMax} é`);
    });

    test("an answer may be as large as a request", async () => {
      await bus.serve("a", async () => "é".repeat(bus.frameLengthMax));
      const answer = await bus.request("a", "1", 20_000);
      expect(answer.length).toBe(bus.frameLengthMax);
      expect(answer === "é".repeat(bus.frameLengthMax)).toBe(true);
    });

    test("a larger frame is refused where it would be sent, and reaches nobody", async () => {
      let calls = 0;
      await bus.serve("a", async (frame) => {
        calls++;
        return frame;
      });
      const frame = "x".repeat(bus.frameLengthMax + 1);
      expect(bus.request("a", frame, 1_000)).rejects.toBeInstanceOf(TooLarge);
      await bus.request("a", "1", 1_000);
      expect(calls).toBe(1);
    });

    test("it says how large news may be, carries some of that size, and refuses larger ones", async () => {
      const got: number[] = [];
      bus.subscribe("a", (_topic, frame) => got.push(frame.length));
      await delivered();
      bus.publish("a", "€".repeat(bus.publicationLengthMax));
      await delivered();
      expect(got).toEqual([bus.publicationLengthMax]);
      expect(() => bus.publish("a", "x".repeat(bus.publicationLengthMax + 1))).toThrow(TooLarge);
    });

    test("a request whose handler fails is an error, and no Unreachable: it may have been executed", async () => {
      await bus.serve("a", async () => {
        throw new Error("broken");
      });
      const failed = await bus.request("a", "1", 1_000).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(Error);
      expect(failed).not.toBeInstanceOf(Unreachable);
    });

    test("who serves a node again takes the place of who did", async () => {
      await bus.serve("a", async () => "1");
      await bus.serve("a", async () => "2");
      expect(await bus.request("a", "", 1_000)).toBe("2");
    });

    test.each(["host.example", "two words", "a*", "a>", "ä=b", "n1#01J0"])(
      "a node may be named %p",
      async (node) => {
        await bus.serve(node, async () => "1");
        expect(await bus.request(node, "", 1_000)).toBe("1");
        expect(bus.request(`${node}x`, "", 1_000)).rejects.toBeInstanceOf(Unreachable);
      },
    );
  });
}
