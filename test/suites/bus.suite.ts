// The contract of a bus as code: every bus runs these rules, and a rule added here binds all of them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type Bus, TooLarge, Unreachable } from "../../src/bus/bus.ts";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

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
      for (const topic of topics) bus.publish(topic, bytes(1));
      await delivered();
      return got;
    }

    test("a request reaches the node that serves, and its answer comes back", async () => {
      await bus.serve("a", async (frame) => bytes(...frame, 9));
      expect([...(await bus.request("a", bytes(1, 2), 1_000))]).toEqual([1, 2, 9]);
      expect([...(await bus.request("a", bytes(), 1_000))]).toEqual([9]);
    });

    test("a request to a node that nobody serves is unreachable: certainly not executed", async () => {
      await bus.serve("a", async (frame) => frame);
      expect(bus.request("b", bytes(1), 1_000)).rejects.toBeInstanceOf(Unreachable);
    });

    test("requests under way at once get each their own answer", async () => {
      await bus.serve("a", async (frame) => frame);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, i) => bus.request("a", bytes(i), 1_000)),
      );
      expect(answers.map(([first]) => first)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    });

    test("what is published reaches every subscriber of its topic, in order, with the frame", async () => {
      const got: [string, number][] = [];
      bus.subscribe("owner.2", (topic, frame) => got.push([topic, frame[0]!]));
      bus.subscribe("owner.2", (topic, frame) => got.push([topic, frame[0]! + 100]));
      await delivered();
      for (const value of [1, 2]) bus.publish("owner.2", bytes(value));
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
      bus.publish("a", bytes(1));
      await delivered();
      expect(got).toEqual(["stays"]);
    });

    test("what nobody listens to is dropped", async () => {
      bus.publish("nobody", bytes(1));
      await delivered();
      expect(await received("nobody", [])).toEqual([]);
    });

    test("a frame belongs to who got it: nobody else sees what becomes of it", async () => {
      const got: number[] = [];
      for (let i = 0; i < 2; i++) {
        bus.subscribe("a", (_topic, frame) => {
          got.push(frame[0]!);
          frame[0] = 99;
        });
      }
      await delivered();
      const sent = bytes(7);
      bus.publish("a", sent);
      sent[0] = 55;
      await delivered();
      expect(got).toEqual([7, 7]);
      expect(sent[0]).toBe(55);

      await bus.serve("n", async (frame) => {
        frame[0] = 99;
        return frame;
      });
      const asked = bytes(7);
      await bus.request("n", asked, 1_000);
      expect(asked[0]).toBe(7);
    });

    test("it says how large a frame may be, and carries one of that size", async () => {
      const frame = new Uint8Array(bus.frameBytesMax).fill(5);
      await bus.serve("a", async (got) => bytes(got.length & 255, got.at(-1)!));
      expect([...(await bus.request("a", frame, 20_000))]).toEqual([bus.frameBytesMax & 255, 5]);
    });

    test("an answer may be as large as a request", async () => {
      await bus.serve("a", async () => new Uint8Array(bus.frameBytesMax).fill(5));
      const answer = await bus.request("a", bytes(1), 20_000);
      expect(answer.length).toBe(bus.frameBytesMax);
      expect(answer.every((byte) => byte === 5)).toBe(true);
    });

    test("a larger frame is refused where it would be sent, and reaches nobody", async () => {
      let calls = 0;
      await bus.serve("a", async (frame) => {
        calls++;
        return frame;
      });
      const frame = new Uint8Array(bus.frameBytesMax + 1);
      expect(bus.request("a", frame, 1_000)).rejects.toBeInstanceOf(TooLarge);
      await bus.request("a", bytes(1), 1_000);
      expect(calls).toBe(1);
    });

    test("it says how large news may be, carries some of that size, and refuses larger ones", async () => {
      const got: number[] = [];
      bus.subscribe("a", (_topic, frame) => got.push(frame.length));
      await delivered();
      bus.publish("a", new Uint8Array(bus.publicationBytesMax));
      await delivered();
      expect(got).toEqual([bus.publicationBytesMax]);
      expect(() => bus.publish("a", new Uint8Array(bus.publicationBytesMax + 1))).toThrow(TooLarge);
    });

    test("a request whose handler fails is an error, and no Unreachable: it may have been executed", async () => {
      await bus.serve("a", async () => {
        throw new Error("broken");
      });
      const failed = await bus.request("a", bytes(1), 1_000).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(Error);
      expect(failed).not.toBeInstanceOf(Unreachable);
    });

    test("who serves a node again takes the place of who did", async () => {
      await bus.serve("a", async () => bytes(1));
      await bus.serve("a", async () => bytes(2));
      expect([...(await bus.request("a", bytes(), 1_000))]).toEqual([2]);
    });

    test.each(["host.example", "two words", "a*", "a>", "ä=b", "n1#01J0"])(
      "a node may be named %p",
      async (node) => {
        await bus.serve(node, async () => bytes(1));
        expect([...(await bus.request(node, bytes(), 1_000))]).toEqual([1]);
        expect(bus.request(`${node}x`, bytes(), 1_000)).rejects.toBeInstanceOf(Unreachable);
      },
    );
  });
}
