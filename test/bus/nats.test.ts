// The bus on NATS keeps the contract of every bus, within a process and between two; and what it does when the server is
// killed, comes back, or only stands still.

import { afterAll, afterEach, describe, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { realClock } from "../../src/base/clock.ts";
import { type Bus, TooLarge, Unreachable } from "../../src/bus/bus.ts";
import { natsBus } from "../../src/bus/nats.ts";
import { openNatsLink } from "../../src/bus/nats-connection.ts";
import type { NatsLimits } from "../../src/bus/nats-requests.ts";
import { cutLine } from "../store/tcp.ts";
import { testBus } from "../suites/bus.suite.ts";
import { anyNatsServer, ownNatsServer } from "./nats-server.ts";

const { after } = realClock();
let clusters = 0;

/** A cluster's name that no other test uses, also not one on the same server. */
const fresh = (): string => `test-${process.pid}-${++clusters}`;

const open = (url: string, name: string, limits: Partial<NatsLimits> = {}): Promise<Bus> =>
  natsBus({ url, name, after, limits });

/** The server has taken all that this bus sent, and the bus has received all that the server had for it. */
async function there(bus: Bus): Promise<void> {
  const error = await bus.request("nobody", "", 10_000).catch((thrown: unknown) => thrown);
  if (!(error instanceof Unreachable)) throw error;
}

/** Resolves when it holds; the test's own time limit ends a wait in vain. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(5);
}

const steady = await anyNatsServer("the bus on NATS");

if (steady !== null) {
  const shared = steady.url;
  afterAll(steady.kill);
  let alone: Bus;
  testBus(
    "NATS, within a process",
    async () => {
      alone = await open(shared, fresh());
      return alone;
    },
    () => there(alone),
  );

  let pair: [Bus, Bus];
  testBus(
    "NATS, between two processes",
    async () => {
      const name = fresh();
      pair = [await open(shared, name), await open(shared, name)];
      return across(...pair);
    },
    async () => {
      await there(pair[1]);
      await there(pair[0]);
      await there(pair[1]);
    },
  );

  describe("limits", () => {
    const opened: Bus[] = [];
    afterEach(() => Promise.all(opened.splice(0).map((bus) => bus.close())));
    const two = async (limits: Partial<NatsLimits>): Promise<[Bus, Bus]> => {
      const name = fresh();
      const both: [Bus, Bus] = [await open(shared, name, limits), await open(shared, name, limits)];
      opened.push(...both);
      return both;
    };

    test("one request more than may be under way is Unreachable; when one is answered there is room again", async () => {
      const [a, b] = await two({ asking: 2 });
      const gate = Promise.withResolvers<void>();
      await b.serve("b", async (frame) => {
        await gate.promise;
        return frame;
      });
      const waiting = [a.request("b", "1", 10_000), a.request("b", "2", 10_000)];
      expect(a.request("b", "3", 10_000)).rejects.toBeInstanceOf(Unreachable);
      gate.resolve();
      await Promise.all(waiting);
      expect(await a.request("b", "4", 10_000)).toBe("4");
    });

    test("a node that answers as many as it may refuses one more as not executed", async () => {
      const [a, b] = await two({ answering: 1 });
      const gate = Promise.withResolvers<void>();
      let calls = 0;
      await b.serve("b", async (frame) => {
        calls++;
        await gate.promise;
        return frame;
      });
      const first = a.request("b", "1", 10_000);
      expect(a.request("b", "2", 10_000)).rejects.toBeInstanceOf(Unreachable);
      await there(a);
      await until(() => calls === 1);
      gate.resolve();
      expect(await first).toBe("1");
      expect(calls).toBe(1);
    });

    test("an answer too large to travel is an error at once, not silence", async () => {
      const [a, b] = await two({ frameLengthMax: 10 });
      await b.serve("b", async () => "x".repeat(11));
      const failed = await a.request("b", "1", 30_000).catch((error: unknown) => error);
      expect(String(failed)).toContain("too large");
      expect(failed).not.toBeInstanceOf(Unreachable);
      expect(failed).not.toBeInstanceOf(TooLarge);
    });

    test("a request that nobody answers in time is an error, and no Unreachable", async () => {
      const [a, b] = await two({ closeMs: 50 });
      await b.serve("b", () => new Promise(() => {}));
      const failed = await a.request("b", "1", 30).catch((error: unknown) => error);
      expect(String(failed)).toContain("within 30 ms");
      expect(failed).not.toBeInstanceOf(Unreachable);
    });

    test("closing answers what was asked before it, and serves nobody after", async () => {
      const [a, b] = await two({});
      const gate = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      await b.serve("b", async (frame) => {
        asked.resolve();
        await gate.promise;
        return frame;
      });
      const answer = a.request("b", "1", 10_000);
      await asked.promise;
      const closed = b.close();
      await there(a);
      expect(a.request("b", "2", 10_000)).rejects.toBeInstanceOf(Unreachable);
      gate.resolve();
      await closed;
      expect(await answer).toBe("1");
      expect(b.request("x", "", 1_000)).rejects.toBeInstanceOf(Unreachable);
      expect(() => b.publish("x", "")).not.toThrow();
    });

    test("what is asked in one turn of the loop goes to the server in one write", async () => {
      const { hostname, port } = new URL(shared);
      const line = await cutLine({ host: hostname, port: Number(port) });
      const name = fresh();
      const [a, b] = [await open(`nats://127.0.0.1:${line.port}`, name), await open(shared, name)];
      opened.push(a, b);
      await b.serve("b", async (frame) => frame);
      await there(a);
      const writes: string[] = [];
      line.judge((message) => {
        if (message.includes("PUB ")) writes.push(message);
        return "pass";
      });
      const asked = Array.from({ length: 50 }, async (_, i) => {
        // In as many microtasks of the same turn.
        for (let depth = 0; depth < i % 7; depth++) await Promise.resolve();
        return await a.request("b", String(i), 10_000);
      });
      expect(await Promise.all(asked)).toEqual(asked.map((_, i) => String(i)));
      expect(writes.length).toBe(1);
      expect(writes[0]).not.toContain("PING");
      await line.close();
    });

    test("of what is asked in one turn, only what goes to a node that nobody serves is Unreachable", async () => {
      const [a, b] = await two({});
      await b.serve("b", async (frame) => frame);
      const long = "€".repeat(a.publicationLengthMax * 2);
      const asked = [
        ...["1", "2", long].map((frame) => a.request("nobody", frame, 10_000)),
        ...["1", "2", long].map((frame) => a.request("b", frame, 10_000)),
      ];
      const outcomes = await Promise.all(asked.map((one) => one.catch((error: unknown) => error)));
      expect(outcomes.slice(0, 3).every((one) => one instanceof Unreachable)).toBe(true);
      expect(outcomes.slice(3)).toEqual(["1", "2", long]);
    });

    test("an answer of more pieces than can be counted is an error at once, not silence", async () => {
      const name = fresh();
      const [a, b] = [await open(shared, name), await open(shared, name, { messageBytes: 60 })];
      opened.push(a, b);
      await b.serve("b", async (frame) => (frame === "long" ? "x".repeat(100_000) : frame));
      const failed = await a.request("b", "long", 10_000).catch((error: unknown) => error);
      expect(String(failed)).toContain("executed or not");
      expect(await a.request("b", "short", 10_000)).toBe("short");
    });

    test("clusters of different names do not hear each other", async () => {
      const [a] = await two({});
      const [other] = await two({});
      await other.serve("b", async (frame) => frame);
      expect(a.request("b", "1", 10_000)).rejects.toBeInstanceOf(Unreachable);
    });
  });
}

describe("an address", () => {
  const refusal = (url: string): Promise<string> =>
    natsBus({ url, after }).then(
      () => "",
      (error) => error.message,
    );

  test("where nobody is: the error names it and no password", async () => {
    const message = await refusal("nats://user:hidden@127.0.0.1:1");
    expect(message).toContain("NATS cannot be reached at nats://127.0.0.1:1");
    expect(message).not.toContain("hidden");
  });

  test.each(["nats://u:hidden@:x", "http://u:hidden@127.0.0.1:1", "", "nats://127.0.0.1:1,,"])(
    "%p is none: the error says what one looks like, and no password",
    async (url) => {
      const message = await refusal(url);
      expect(message).toContain("nats://HOST:PORT");
      expect(message).not.toContain("hidden");
    },
  );
});

const guarded = await ownNatsServer("the bus on NATS with a password", "--user", "ada", "--pass", "p@ss:/,");

if (guarded !== null) {
  describe("a server with a password", () => {
    afterAll(() => guarded.kill());
    const at = (who: string): string => guarded.url.replace("//", `//${who}`);

    test("lets in who has it, also as one of several addresses", async () => {
      const bus = await open(`nats://127.0.0.1:1, ${at("ada:p%40ss%3A%2F%2C@")}`, fresh());
      await there(bus);
      expect(bus.connected()).toBe(true);
      await bus.close();
    });

    test("refuses others with an error that shows no password", async () => {
      const failed = await open(at("ada:hidden@"), fresh()).catch((error) => error.message);
      expect(failed).toContain("NATS cannot be reached");
      expect(failed).not.toContain("hidden");
    });
  });
}

const rules = join(mkdtempSync(join(tmpdir(), "arborgate-nats-")), "nats.conf");
writeFileSync(
  rules,
  `authorization { users: [
    { user: deaf, password: x, permissions: { subscribe: { deny: "*.node.>" } } }
    { user: unanswered, password: x, permissions: { subscribe: { deny: "_INBOX.>" } } }
    { user: mute, password: x, permissions: { publish: { deny: "*.news.>" } } }
  ] }`,
);
const strict = await ownNatsServer("the bus on NATS with permissions", "-c", rules);
afterAll(() => rmSync(dirname(rules), { recursive: true }));

if (strict !== null) {
  describe("a server that refuses a subject", () => {
    afterAll(() => strict.kill());

    test.each([
      ["deaf", "subscription", ".node."],
      ["unanswered", "subscription", "_INBOX."],
      ["mute", "publish", ".news."],
    ])("%s: the bus is not connected, and says which %s", async (user, operation, subject) => {
      const said: unknown[] = [];
      const bus = await natsBus({
        ...{
          url: strict.url.replace("//", `//${user}:x@`),
          name: fresh(),
          after,
          limits: { reconnectMs: 50 },
        },
        refused: (refusal) => void said.push(refusal),
      });
      await bus.serve("b", async (frame) => frame);
      bus.publish("1", "");
      await until(() => said.length === 1);
      expect(said).toEqual([{ operation, subject: expect.stringContaining(subject) }]);
      expect(bus.connected()).toBe(false);
      await bus.close();
    });

    // The client gives such a subscription up, and does not ask for it again.
    test("the next connection does not count as up either", async () => {
      const limits = { pingMs: 200, reconnectMs: 50, unsentLength: 1 };
      const link = await openNatsLink(strict.url.replace("//", "//deaf:x@"), limits, () => {});
      link.nats.subscribe("test.node.b", { callback: () => {} });
      await until(() => !link.up());
      const again = (async () => {
        for await (const { type } of link.nats.status()) if (type === "reconnect") return;
      })();
      await strict.kill();
      await strict.start();
      await again;
      await Bun.sleep(0);
      expect(link.up()).toBe(false);
      await link.close();
    });
  });
}

const server = await ownNatsServer("the bus on NATS while its server fails");

if (server !== null) {
  describe("while its server fails", () => {
    const opened: Bus[] = [];
    const quick = { pingMs: 200, reconnectMs: 50, closeMs: 200 };
    afterEach(async () => {
      server.thaw();
      await Promise.all(opened.splice(0).map((bus) => bus.close()));
    });
    afterAll(() => server.kill());

    const two = async (): Promise<[Bus, Bus]> => {
      const name = fresh();
      const both: [Bus, Bus] = [await open(server.url, name, quick), await open(server.url, name, quick)];
      opened.push(...both);
      return both;
    };
    const bothUp = (a: Bus, b: Bus) => () => a.connected() && b.connected();

    test("killed: what was under way is unknown at once, what comes is Unreachable; restarted: all goes on", async () => {
      const [a, b] = await two();
      let calls = 0;
      const gaps: string[] = [];
      a.onGap(() => gaps.push("a"));
      b.onGap(() => gaps.push("b"))();
      const gate = Promise.withResolvers<void>();
      await b.serve("b", async (frame) => {
        calls++;
        if (frame === "1") await gate.promise;
        return frame;
      });
      const got: string[] = [];
      b.subscribe("news.>", (_topic, frame) => got.push(frame));
      const under = a.request("b", "1", 60_000).catch((error: unknown) => error);
      await until(() => calls === 1);

      await server.kill();
      const broken = await under;
      expect(String(broken)).toContain("the connection broke");
      expect(broken).not.toBeInstanceOf(Unreachable);
      await until(() => !a.connected() && !b.connected());
      expect(a.request("b", "2", 60_000)).rejects.toBeInstanceOf(Unreachable);
      a.publish("news.1", "1");

      await server.start();
      await until(bothUp(a, b));
      await there(b);
      // Who listens still hears of it, once.
      expect(gaps).toEqual(["a"]);
      gate.resolve();
      expect(await a.request("b", "3", 10_000)).toBe("3");
      a.publish("news.1", "2");
      await there(a);
      await there(b);
      // Neither the request nor the news of the time between was kept for later.
      expect(calls).toBe(2);
      expect(got).toEqual(["2"]);
    });

    test("frozen: it is noticed by itself, and thawed it goes on", async () => {
      const [a, b] = await two();
      await b.serve("b", async (frame) => frame);
      server.freeze();
      await until(() => !a.connected());
      expect(a.request("b", "1", 60_000)).rejects.toBeInstanceOf(Unreachable);
      server.thaw();
      await until(bothUp(a, b));
      await there(b);
      expect(await a.request("b", "2", 10_000)).toBe("2");
    });

    test("frozen: within the process requests and news go on as ever", async () => {
      const [a] = await two();
      await a.serve("a", async (frame) => frame);
      const got: string[] = [];
      a.subscribe("news.1", (_topic, frame) => got.push(frame));
      server.freeze();
      expect(await a.request("a", "1", 1_000)).toBe("1");
      a.publish("news.1", "7");
      await until(() => got.length > 0);
      expect(got).toEqual(["7"]);
    });

    test("frozen: news that the server does not take are dropped, not heaped up", async () => {
      const [a] = await two();
      server.freeze();
      for (let i = 0; i < 200; i++) a.publish("news.1", "x".repeat(a.publicationLengthMax));
      // 100 MB were published; a request finds no room, since at most the limit of them is kept.
      expect(a.request("b", "1", 60_000)).rejects.toThrow("too many");
    });

    test("killed: who begins to serve or listen meanwhile is reached once it is back", async () => {
      const [a, b] = await two();
      await server.kill();
      await until(() => !a.connected() && !b.connected());
      const got: string[] = [];
      await b.serve("b", async (frame) => frame);
      b.subscribe("news.1", (_topic, frame) => got.push(frame));
      await server.start();
      await until(bothUp(a, b));
      await there(b);
      expect(await a.request("b", "4", 10_000)).toBe("4");
      a.publish("news.1", "5");
      await there(a);
      await there(b);
      expect(got).toEqual(["5"]);
    });

    test("killed after the wall clock was set back by an hour: it is connected again as ever", async () => {
      const [a] = await two();
      const now = Date.now;
      const wall = spyOn(Date, "now").mockImplementation(() => now() - 3_600_000);
      try {
        await server.kill();
        await until(() => !a.connected());
        await server.start();
        await until(a.connected);
      } finally {
        wall.mockRestore();
      }
    });

    test("closing does not wait for a server that is gone", async () => {
      const [a] = await two();
      await a.serve("a", async (frame) => frame);
      await server.kill();
      await a.close();
      await server.start();
      expect(a.connected()).toBe(false);
    });
  });
}

/** What one asks and publishes, the other serves and hears. */
function across(asks: Bus, serves: Bus): Bus {
  return {
    frameLengthMax: asks.frameLengthMax,
    publicationLengthMax: asks.publicationLengthMax,
    request: asks.request,
    publish: asks.publish,
    serve: serves.serve,
    subscribe: serves.subscribe,
    onGap: serves.onGap,
    connected: () => asks.connected() && serves.connected(),
    close: async () => void (await Promise.all([asks.close(), serves.close()])),
  };
}
