// Each item times out after its own time and once, whatever begins and ends around it, and an empty queue has no timer.

import { expect, test } from "bun:test";
import { Timeout, TimeoutQueue } from "../../src/base/timeout-queue.ts";
import { manualClock } from "../runtime/manual-clock.ts";

class Named extends Timeout {
  constructor(readonly name: string) {
    super();
  }
}

function rig(onTimeout: (item: Named) => void = () => undefined) {
  const clock = manualClock();
  let timers = 0;
  const counted = {
    mono: clock.mono,
    after(ms: number, fn: () => void) {
      timers++;
      const stop = clock.after(ms, () => {
        timers--;
        fn();
      });
      return () => {
        timers--;
        stop();
      };
    },
  };
  const over: string[] = [];
  const queue = new TimeoutQueue<Named>(counted, 1_000, (item) => {
    over.push(`${item.name} ${clock.mono()}`);
    onTimeout(item);
  });
  const add = (name: string) => {
    const item = new Named(name);
    queue.add(item);
    return item;
  };
  return { clock, queue, over, add, start: clock.mono(), timers: () => timers };
}

test("each item times out after its time, the oldest first, with one timer for all", async () => {
  const { clock, over, add, start, timers } = rig();
  add("a");
  add("b");
  await clock.advance(400);
  add("c");
  expect(timers()).toBe(1);
  await clock.advance(999);
  expect(over).toEqual([`a ${start + 1_000}`, `b ${start + 1_000}`]);
  await clock.advance(1);
  expect(over.at(-1)).toBe(`c ${start + 1_400}`);
  expect(timers()).toBe(0);
});

test("a removed item does not time out, wherever it stood, and the others do at their time", async () => {
  for (const removed of [0, 1, 2]) {
    const { clock, queue, over, add, start, timers } = rig();
    const items = ["a", "b", "c"].map(add);
    expect(queue.remove(items[removed]!)).toBe(true);
    expect(queue.remove(items[removed]!)).toBe(false);
    await clock.advance(1_000);
    const left = ["a", "b", "c"].filter((_, i) => i !== removed);
    expect(over).toEqual(left.map((name) => `${name} ${start + 1_000}`));
    expect([timers(), ...items.map((item) => item.isQueued)]).toEqual([0, false, false, false]);
  }
});

test("no timer runs once the last item was removed, and a later item has its whole time", async () => {
  const { clock, queue, over, add, start, timers } = rig();
  queue.remove(add("a"));
  expect(timers()).toBe(0);
  await clock.advance(999);
  add("b");
  await clock.advance(999);
  expect(over).toEqual([]);
  await clock.advance(1);
  expect(over).toEqual([`b ${start + 1_999}`]);
});

test("an item may be added again and others removed while items time out", async () => {
  const victims: Named[] = [];
  const again: string[] = [];
  const { clock, queue, over, add, start } = rig((item) => {
    for (const victim of victims.splice(0)) queue.remove(victim);
    if (item.name === "a" && again.push("a") === 1) queue.add(item);
  });
  add("a");
  victims.push(add("b"));
  add("c");
  await clock.advance(2_000);
  expect(over).toEqual([`a ${start + 1_000}`, `c ${start + 1_000}`, `a ${start + 2_000}`]);
});

test("an item that is added again while others time out does not keep a later one waiting", async () => {
  const { clock, queue, over, add, start, timers } = rig((item) => {
    if (item.name === "a") queue.add(item);
  });
  add("a");
  await clock.advance(300);
  add("b");
  await clock.advance(1_000);
  expect(over).toEqual([`a ${start + 1_000}`, `b ${start + 1_300}`]);
  await clock.advance(700);
  expect([over.at(-1), timers()]).toEqual([`a ${start + 2_000}`, 1]);
});

test("one that throws does not keep the others from their time", async () => {
  const { clock, over, add, start } = rig((item) => {
    if (item.name === "a") throw new Error("a");
  });
  add("a");
  await clock.advance(1);
  add("b");
  await clock.advance(999).catch(() => undefined);
  await clock.advance(1);
  expect(over).toEqual([`a ${start + 1_000}`, `b ${start + 1_001}`]);
});

test("all can be removed at once, the oldest first", async () => {
  const { clock, queue, over, add, timers } = rig();
  const items = ["a", "b", "c"].map(add);
  expect(queue.removeAll()).toEqual(items);
  expect([timers(), ...queue.removeAll()]).toEqual([0]);
  await clock.advance(5_000);
  expect(over).toEqual([]);
});
