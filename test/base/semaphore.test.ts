// A semaphore: so many at once, the rest in order, and nobody waits in vain.

import { describe, expect, test } from "bun:test";
import { QueueFullError, Semaphore } from "../../src/base/semaphore.ts";

/** Tasks that end when the test says so, and the order in which they started. */
function tasks(semaphore: Semaphore) {
  const started: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const run = (name: string, signal?: AbortSignal) =>
    semaphore.run(async () => {
      started.push(name);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      ends.set(name, (error) => (error === undefined ? resolve(name) : reject(error)));
      return promise;
    }, signal);
  return { started, run, end: (name: string, error?: Error) => ends.get(name)?.(error) };
}

const settled = () => new Promise(setImmediate);

describe("a semaphore", () => {
  test("so many run at once, the others start in order as those end, also when they fail", async () => {
    const { started, run, end } = tasks(new Semaphore(2, 9));
    const answers = ["a", "b", "c", "d"].map((name) => run(name));
    await settled();
    expect(started).toEqual(["a", "b"]);
    end("b", new Error("b failed"));
    await expect(answers[1]).rejects.toThrow("b failed");
    await settled();
    expect(started).toEqual(["a", "b", "c"]);
    end("a");
    await settled();
    expect(started).toEqual(["a", "b", "c", "d"]);
    end("c");
    end("d");
    expect(await Promise.all([answers[0], answers[2], answers[3]])).toEqual(["a", "c", "d"]);
  });

  test("over the bound of those who wait one is refused at once, and later there is room again", async () => {
    const { started, run, end } = tasks(new Semaphore(1, 1));
    const first = run("a");
    const second = run("b");
    await expect(run("c")).rejects.toThrow(QueueFullError);
    end("a");
    await first;
    await settled();
    const third = run("d");
    end("b");
    await second;
    await settled();
    end("d");
    expect(await third).toBe("d");
    expect(started).toEqual(["a", "b", "d"]);
  });

  test("one that is aborted while it waits is forgotten, and leaves its room to others", async () => {
    const { started, run, end } = tasks(new Semaphore(1, 1));
    const first = run("a");
    const abort = new AbortController();
    const aborted = run("b", abort.signal);
    abort.abort(new Error("gone"));
    await expect(aborted).rejects.toThrow("gone");
    const next = run("c");
    end("a");
    await first;
    await settled();
    end("c");
    await next;
    expect(started).toEqual(["a", "c"]);
  });

  test("one that is aborted while it runs is answered at once, and keeps its place until it ends", async () => {
    const { started, run, end } = tasks(new Semaphore(1, 1));
    const abort = new AbortController();
    const aborted = run("a", abort.signal);
    const next = run("b");
    await settled();
    abort.abort(new Error("gone"));
    await expect(aborted).rejects.toThrow("gone");
    await settled();
    expect(started).toEqual(["a"]);
    end("a");
    await settled();
    expect(started).toEqual(["a", "b"]);
    end("b");
    await next;
  });

  test("one that is aborted as it is about to start never does", async () => {
    const { started, run, end } = tasks(new Semaphore(1, 1));
    const abort = new AbortController();
    const aborted = run("a", abort.signal);
    abort.abort(new Error("gone"));
    await expect(aborted).rejects.toThrow("gone");
    const next = run("b");
    await settled();
    end("b");
    await next;
    expect(started).toEqual(["b"]);
  });

  test("closing refuses those who wait and all who come, and lasts until those that run have ended", async () => {
    const turns = new Semaphore(1, 9);
    const { run, end } = tasks(turns);
    const running = run("a");
    const refused = run("b");
    let closed = false;
    const closing = turns.close().then(() => {
      closed = true;
    });
    await expect(refused).rejects.toThrow("closed");
    await expect(run("c")).rejects.toThrow("closed");
    expect(closed).toBe(false);
    end("a");
    expect(await running).toBe("a");
    await closing;
  });

  test("closing what nobody uses is done at once", async () => {
    await new Semaphore(1, 1).close();
  });
});
