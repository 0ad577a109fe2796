// What became of a key, read from its Level's ledger and said in words: `well`, `1 failure`, `1 failure, rests 1 s`,
// `sleeps 30 min`, `passed over 10 min`. It reads events as they are stored and knows none of the rules behind them.

import { actorRef } from "../../actors/index.ts";
import type { LevelEvent } from "../../actors/level/state.ts";
import { actorName } from "../../src/runtime/actor.ts";
import type { AuditView } from "../../src/store/audit.ts";
import type { Account } from "../e2e/harness.ts";

const COMMITS_MOST = 1_000;

/** Returns what became of each key of the Owner's only Level, in the order they were added. */
export async function becomeOf(audit: AuditView, owner: Account): Promise<string[]> {
  const level = actorRef.level(owner.id as Parameters<typeof actorRef.level>[0], 1);
  const commits = await audit.readCommits(actorName(level), 0, COMMITS_MOST);
  const events = commits.flatMap((commit) => commit.events.map(({ at, e }) => ({ at, e: e as LevelEvent })));
  const keys = events.flatMap(({ e }) => (e.type === "members_changed" ? e.keys.map(({ id }) => id) : []));
  return [...new Set(keys)].sort((a, b) => a - b).map((id) => historyOf(events, id));
}

function historyOf(events: readonly { readonly at: number; readonly e: LevelEvent }[], id: number): string {
  let failures = 0;
  let rest = "";
  let sleep = "";
  let passed = "";
  for (const { at, e } of events) {
    if (!("key" in e) || e.key !== id) continue;
    if (e.type === "failed" && e.counted) failures++;
    else if (e.type === "rested") rest = `rests ${Math.ceil((e.until - at) / 1_000)} s`;
    else if (e.type === "slept") sleep = `sleeps ${Math.round((e.until - at) / 60_000)} min`;
    else if (e.type === "passed_over") passed = `passed over ${Math.round((e.until - at) / 60_000)} min`;
  }
  // What put it to sleep is no failure in a row any more.
  const count = failures === 0 || sleep !== "" ? "" : `${failures} failure${failures === 1 ? "" : "s"}`;
  const all = [count, rest, sleep, passed].filter((word) => word !== "");
  return all.length === 0 ? "well" : all.join(", ");
}

/** Whether a key became what was expected: word by word, a number behind `~` give or take one. */
export function isAsExpected(expected: string, became: string): boolean {
  const wanted = expected.split(" ");
  const found = became.split(" ");
  return (
    wanted.length === found.length &&
    wanted.every((word, nth) =>
      word.startsWith("~") ? Math.abs(Number(word.slice(1)) - Number(found[nth])) <= 1 : word === found[nth],
    )
  );
}
