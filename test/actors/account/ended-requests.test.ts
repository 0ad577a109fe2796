// Ended requests are kept for a minute and ten thousand at most, an id added again counts from then; as a Map would that
// is searched from its front.

import { expect, test } from "bun:test";
import { EndedRequests } from "../../../actors/account/ended-requests.ts";

const MS_MAX = 60_000;
const IDS_MAX = 10_000;

/** The same by one Map: plain, and slow when many ids come and go. */
function addPlainly(ended: Map<string, number>, id: string, now: number): void {
  ended.delete(id);
  ended.set(id, now);
  for (const [oldest, at] of ended) {
    if (ended.size <= IDS_MAX && at > now - MS_MAX) break;
    ended.delete(oldest);
  }
}

test.each([
  ["more than fit in a minute", 1, 40_000],
  ["few, so that each is dropped by its age", 700, 5_000],
  ["some again and again, by a clock that also steps back", 9, 900],
])("%s", (_, stepMs, distinct) => {
  const ended = new EndedRequests();
  const plain = new Map<string, number>();
  let now = 1_000_000;
  for (let i = 0; i < 30_000; i++) {
    const id = `r${(i * 7_919 + (i % 13) * 31) % distinct}`;
    now += i % 1_000 === 999 ? -5 * stepMs : stepMs;
    ended.add(id, now);
    addPlainly(plain, id, now);
    if (i % 500 === 0) expect(ended.all()).toEqual([...plain.keys()]);
    expect(ended.size).toBe(plain.size);
  }
  expect(ended.all()).toEqual([...plain.keys()]);
  const all = Array.from({ length: distinct }, (_, i) => `r${i}`);
  expect(all.filter((id) => ended.has(id)).sort()).toEqual([...plain.keys()].sort());
});
