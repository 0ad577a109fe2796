// Work that many ask for at once: each gets a run that began after it asked, and no run is made for nobody.

import { expect, test } from "bun:test";
import { coalesce, SingleFlight } from "../../src/base/coalesce.ts";
import { settled } from "../runtime/manual-clock.ts";

/** Runs are numbered, and end when the test says so. */
function counted() {
  const ends: ((failed?: Error) => void)[] = [];
  const ask = coalesce(
    () =>
      new Promise<number>((resolve, reject) => {
        const run = ends.length + 1;
        ends.push((failed) => (failed === undefined ? resolve(run) : reject(failed)));
      }),
  );
  return { ask, ends };
}

test("who asks while it runs gets the next run, together with all others", async () => {
  const { ask, ends } = counted();
  const first = ask();
  const others = [ask(), ask(), ask()];
  expect(ends).toHaveLength(1);
  ends[0]!();
  expect(await first).toBe(1);
  await settled();
  expect(ends).toHaveLength(2);
  ends[1]!();
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
});

test("who asks when nothing runs gets a run of its own", async () => {
  const { ask, ends } = counted();
  for (const run of [1, 2]) {
    const asked = ask();
    ends[run - 1]!();
    expect(await asked).toBe(run);
    await settled();
  }
});

test("a run that fails fails those who waited for it, and nobody after them", async () => {
  const { ask, ends } = counted();
  const first = ask().catch((error: Error) => error.message);
  const second = ask();
  ends[0]!(new Error("broken"));
  expect(await first).toBe("broken");
  await settled();
  ends[1]!();
  expect(await second).toBe(2);
  await settled();
  const third = ask();
  ends[2]!();
  expect(await third).toBe(3);
});

test("never are two runs under way, not even for who asks at the moment when one ends", async () => {
  let under = 0;
  let most = 0;
  let end = (): void => undefined;
  const ask = coalesce(async () => {
    most = Math.max(most, ++under);
    await new Promise<void>((resolve) => {
      end = resolve;
    });
    under--;
  });
  const asked = [ask(), ask()];
  end();
  // One tick after the other, until the second run is surely under way.
  for (let tick = 0; tick < 20; tick++) {
    await null;
    asked.push(ask());
  }
  for (let run = 0; run < 3; run++) {
    end();
    await settled();
  }
  await Promise.all(asked);
  expect(most).toBe(1);
});

test("who asks for a key while it is read gets that reading, and a later one its own", async () => {
  const flight = new SingleFlight<string, number>();
  let runs = 0;
  const read = async (): Promise<number> => ++runs;
  expect(await Promise.all([flight.run("a", read), flight.run("a", read), flight.run("b", read)])).toEqual([
    1, 1, 2,
  ]);
  expect(await flight.run("a", read)).toBe(3);
});

test("a reading that fails fails for all who wait, and the next one begins anew", async () => {
  const flight = new SingleFlight<string, number>();
  const broken = async (): Promise<number> => {
    throw new Error("broken");
  };
  const both = await Promise.allSettled([flight.run("a", broken), flight.run("a", async () => 1)]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await flight.run("a", async () => 2)).toBe(2);
});
