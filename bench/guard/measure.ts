// The short paired benchmark of the guard: a few rounds of each kind of request, service and pass-through in turn, each
// round with what else ran on the machine meanwhile.

import { allowingRefusals } from "../books.ts";
import { CONCURRENCY, spend } from "../cpu.ts";
import { IN_ONE_PIECE, type Kind, ONE_BY_ONE, SPREAD, translatedKind, WHOLE } from "../kinds.ts";
import { onStage, type Stage } from "../stage.ts";
import type { StyleName } from "../styles.ts";
import { type GuardRound, isQuiet } from "./judge.ts";
import { watchOtherCores } from "./other-cores.ts";

interface GuardKind extends Kind {
  /** Its name in the baseline. */
  readonly id: string;
  /** The style of the provider keys; the client's is chat. */
  readonly keys: StyleName;
  /** Requests to either side before the first round. A number of them, because a slow machine needs more time to warm up. */
  readonly warmUp: number;
}

export const GUARD_KINDS: readonly GuardKind[] = [
  { ...WHOLE, id: "whole", keys: "chat", warmUp: 8_000 },
  { ...SPREAD, id: "whole-100-accounts", keys: "chat", warmUp: 2_000 },
  { ...IN_ONE_PIECE, id: "stream-one-piece", keys: "chat", warmUp: 2_000 },
  { ...ONE_BY_ONE, id: "stream-one-by-one", keys: "chat", warmUp: 600 },
  {
    ...translatedKind(ONE_BY_ONE),
    id: "stream-translated",
    keys: "messages",
    warmUp: 1_500,
    what: "translated stream of 100 events one by one",
  },
];

export interface RoundsWanted {
  /** Quiet rounds; a kind that has them is done. */
  readonly quiet: number;
  /** Rounds in all. */
  readonly most: number;
  /** No round begins after this moment, in ms of the monotonic clock. */
  readonly untilMs: number;
}

const ROUND_MS = 500;

/** Measures kinds on processes that are started for it. Returns the rounds by the kind's id. */
export async function measureRounds(
  kinds: readonly GuardKind[],
  wanted: RoundsWanted,
): Promise<Map<string, readonly GuardRound[]>> {
  const measured = new Map<string, readonly GuardRound[]>();
  for (const [keys, ofStyle] of Map.groupBy(kinds, (kind) => kind.keys)) {
    if (performance.now() > wanted.untilMs) break;
    const accounts = Math.max(...ofStyle.map((kind) => kind.accounts));
    await onStage({ keys, accounts }, async (stage) => {
      for (const kind of ofStyle) measured.set(kind.id, await roundsOf(stage, kind, wanted));
    });
  }
  return measured;
}

async function roundsOf(stage: Stage, kind: GuardKind, wanted: RoundsWanted): Promise<GuardRound[]> {
  const { load, refused } = allowingRefusals(stage.load);
  const service = { process: stage.service, target: stage.serviceFor(kind.accounts) };
  const passThrough = { process: stage.passThrough, target: stage.passThroughTarget };
  for (const { target } of [service, passThrough]) {
    const most = { requests: kind.warmUp };
    await load({ targets: [target], ask: kind, concurrency: CONCURRENCY, most, times: "none" });
  }
  const cpuUs = async ({ process, target }: typeof service) =>
    (await spend(load, [process], [target], kind, ROUND_MS)).cpuUs;
  const rounds: GuardRound[] = [];
  while (
    rounds.length < wanted.most &&
    rounds.filter(isQuiet).length < wanted.quiet &&
    performance.now() < wanted.untilMs
  ) {
    const refusedBefore = refused();
    const otherCores = watchOtherCores();
    const ratio = (await cpuUs(service)) / (await cpuUs(passThrough));
    rounds.push({ ratio, otherCores: otherCores(), refused: refused() - refusedBefore });
  }
  return rounds;
}
