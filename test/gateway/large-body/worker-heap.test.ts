// When the heap of a worker thread is collected.

import { expect, test } from "bun:test";
import { WorkerHeap } from "../../../src/gateway/large-body/worker-heap.ts";
import { manualClock } from "../../runtime/manual-clock.ts";

const MB = 1024 * 1024;

function watched() {
  const clock = manualClock();
  let collections = 0;
  const heap = new WorkerHeap(clock, () => collections++);
  return { clock, heap, collections: () => collections };
}

test("the value of a body of 4 MB is collected at once, and once", async () => {
  const { clock, heap, collections } = watched();
  heap.begin();
  heap.end(4 * MB);
  expect(collections()).toBe(1);
  await clock.advance(60_000);
  expect(collections()).toBe(1);
});

test("smaller ones are collected when the thread has been idle for a second, and not between jobs", async () => {
  const { clock, heap, collections } = watched();
  for (let job = 0; job < 50; job++) {
    heap.begin();
    heap.end(2 * MB);
    await clock.advance(999);
  }
  expect(collections()).toBe(0);
  await clock.advance(1);
  expect(collections()).toBe(1);
  await clock.advance(60_000);
  expect(collections()).toBe(1);
});

test("a job that takes long is no idle time", async () => {
  const { clock, heap, collections } = watched();
  heap.begin();
  heap.end(MB);
  heap.begin();
  await clock.advance(60_000);
  expect(collections()).toBe(0);
});
