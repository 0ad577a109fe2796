// A start's patience: what is away is waited for and reported, what time will not mend is not, and no wait is for ever.

import { beforeEach, describe, expect, test } from "bun:test";
import assert from "node:assert/strict";
import { ended, opened, StartCancelledError, type StartupRetry } from "../../src/node/startup-retry.ts";
import { BadSetting } from "../../src/settings/settings.ts";
import { type ManualClock, manualClock } from "../runtime/manual-clock.ts";

let clock: ManualClock;
let off: AbortController;
let reported: (string | null)[];
let log: string[];
let patience: StartupRetry;
beforeEach(() => {
  clock = manualClock();
  off = new AbortController();
  [reported, log] = [[], []];
  patience = {
    ...{ clock, ms: 60_000, signal: off.signal },
    report: (reason) => void reported.push(reason),
    log: (_level, event) => void log.push(event),
  };
});

/** What became of it, once the time has passed. */
async function after<T>(ms: number, work: Promise<T>): Promise<T | Error> {
  const settled = work.catch((error: Error) => error);
  await clock.advance(ms);
  return settled;
}

describe("opening", () => {
  test("what is there is there at once, and nothing is reported", async () => {
    expect(await opened(patience, "NATS", async () => 7)).toBe(7);
    expect(reported).toEqual([null]);
  });

  test("what is away is tried until it is there, visibly", async () => {
    let tries = 0;
    const opening = opened(patience, "NATS", async () => {
      if (++tries < 4) throw new Error("NATS cannot be reached");
      return tries;
    });
    expect(await after(10_000, opening)).toBe(4);
    expect(reported).toEqual([...Array(3).fill("NATS cannot be reached"), null]);
    expect(log).toEqual(Array(3).fill("start_waits"));
  });

  test("it is given up after a while, with the last reason as one line", async () => {
    const away = async () => {
      throw new Error("MongoDB cannot be reached: no route");
    };
    const found = await after(61_000, opened(patience, "MongoDB", away));
    expect(found).toBeInstanceOf(BadSetting);
    expect((found as Error).message).toBe("MongoDB cannot be reached: no route");
  });

  test("what it is not what it should be is refused at once", async () => {
    const wrong = async () => assert(false, "the database has version 99");
    const found = await after(0, opened(patience, "MongoDB", wrong));
    expect(found).toBeInstanceOf(BadSetting);
    expect((found as Error).message).toContain("version 99");
  });

  test("called off, it ends amid a pause and amid an attempt", async () => {
    const away = async () => {
      throw new Error("cannot be reached");
    };
    const [pausing, trying] = [
      opened(patience, "NATS", away).catch((error) => error),
      opened(patience, "NATS", () => new Promise(() => {})).catch((error) => error),
    ];
    await clock.advance(500);
    off.abort();
    expect(await pausing).toBeInstanceOf(StartCancelledError);
    expect(await trying).toBeInstanceOf(StartCancelledError);
  });
});

describe("waiting for an end", () => {
  test("is reported while it lasts, and logged now and then", async () => {
    const end = Promise.withResolvers<string>();
    const ending = ended(patience, "shards are being placed", end.promise);
    await clock.advance(12_000);
    end.resolve("placed");
    expect(await ending).toBe("placed");
    expect(reported).toEqual(["shards are being placed", null]);
    expect(log).toEqual(["start_waits", "start_waits"]);
    expect(clock.waiting).toBe(0);
  });

  test("is not for ever", async () => {
    const found = await after(61_000, ended(patience, "shards are being placed", new Promise(() => {})));
    expect(found).toBeInstanceOf(BadSetting);
    expect((found as Error).message).toBe("given up after 60 s: shards are being placed");
  });

  test("rejects as the work does", async () => {
    await expect(ended(patience, "it", Promise.reject(new Error("taken")))).rejects.toThrow("taken");
  });
});
