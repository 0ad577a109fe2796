// CPU time that a request costs the server's process, as a ratio to the pass-through's, at 64 requests in flight, in either
// style. The two take turns in short rounds and each pair of rounds gives one ratio, so that a busy neighbor spoils a round
// and not the result. Before them the service is warmed up until its compiler has next to nothing left to do; the first pair
// does not count either.

import type { Books } from "./books.ts";
import { grouped, median, range, sum } from "./figures.ts";
import { IN_ONE_PIECE, type Kind, ONE_BY_ONE, SPREAD, translatedKind, WHOLE } from "./kinds.ts";
import type { Loaded, Target } from "./load.ts";
import type { Measure, Measured, Row } from "./measure.ts";
import type { Process } from "./process.ts";
import { inTurns, ratiosOf } from "./rounds.ts";
import { onStage, type Stage } from "./stage.ts";
import type { Ask, StyleName } from "./styles.ts";
import { FULL_WARM_UP, NO_WARM_UP, type WarmUpTimes, warmUp, warmUpNote } from "./warm-up.ts";

/** Requests in flight. */
export const CONCURRENCY = 64;

interface Times extends WarmUpTimes {
  readonly rounds: number;
  readonly roundMs: number;
}

const FULL: Times = { ...FULL_WARM_UP, rounds: 6, roundMs: 3_000 };
/** Only its first round, which does not count, warms the service up. */
const QUICK: Times = { ...NO_WARM_UP, rounds: 3, roundMs: 1_000 };
export interface Spent {
  /** CPU time of all the servers together, per request. */
  readonly cpuUs: number;
  readonly perS: number;
  readonly requests: number;
  /** By target, then by key. */
  readonly answered: Loaded["answered"];
}

/** Loads servers for `ms` with 64 requests in flight, and reads what that cost their processes. */
export async function spend(
  load: Books["load"],
  servers: readonly Process[],
  targets: readonly Target[],
  ask: Ask,
  ms: number,
): Promise<Spent> {
  const cpuMs = () => sum(servers.map((server) => server.cpuMs()));
  const before = cpuMs();
  const { answered, ms: took } = await load({
    targets,
    ask,
    concurrency: CONCURRENCY,
    most: { ms },
    times: "none",
  });
  const requests = sum(answered.flat());
  return {
    cpuUs: ((cpuMs() - before) * 1000) / requests,
    perS: (requests * 1000) / took,
    requests,
    answered,
  };
}

async function measureKind(stage: Stage, prefix: string, kind: Kind, times: Times): Promise<Measured> {
  const { rounds, roundMs } = times;
  const spendOnService = (ms: number) =>
    spend(stage.load, [stage.service], [stage.serviceFor(kind.accounts)], kind, ms);
  const warmed = await warmUp([stage.service], times, spendOnService);
  const before = await stage.admin.counters();
  const [service, passThrough] = await inTurns(
    [
      () => spendOnService(roundMs),
      () => spend(stage.load, [stage.passThrough], [stage.passThroughTarget], kind, roundMs),
    ],
    rounds,
  );
  const after = await stage.admin.counters();
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const cpuOf = (spent: readonly Spent[]) => spent.map(({ cpuUs }) => cpuUs);
  const cpu = (spent: readonly Spent[]) => `${median(cpuOf(spent)).toFixed(0)} µs`;
  const perS = (spent: readonly Spent[]) => grouped(median(spent.map((one) => one.perS)));
  const ratios = ratiosOf(cpuOf(service!), cpuOf(passThrough!));
  const what = prefix + kind.what;
  const row: Row = {
    what: `CPU per request, ${what}`,
    service: cpu(service!),
    passThrough: cpu(passThrough!),
    result: `× ${median(ratios).toFixed(2)} (${range(ratios, 2)})`,
    target: kind.target,
    must: kind.must,
  };
  const speed: Row = {
    what: `Requests per second, ${what}`,
    service: perS(service!),
    passThrough: perS(passThrough!),
    result: "",
    target: "",
  };
  const batching = (grown("events") / grown("commits")).toFixed(1);
  return {
    rows: [row, speed],
    notes: [
      `${what}: ${batching} events per commit, ${grouped(grown("turns"))} turns`,
      ...(warmed.tookMs > 0 ? [`${what}: ${warmUpNote(warmed)}`] : []),
    ],
  };
}

interface Series {
  readonly name: string;
  readonly about: string;
  readonly style: StyleName;
  /** The style of the provider keys, when it is not `style`. */
  readonly keys?: StyleName;
  /** Distinguishes its rows from those of the other style. */
  readonly prefix: string;
  readonly kinds: readonly Kind[];
}

const measureOf = ({ name, about, style, keys = style, prefix, kinds }: Series): Measure => ({
  name,
  about,
  run: (quick) =>
    onStage({ style, keys, accounts: Math.max(...kinds.map((kind) => kind.accounts)) }, async (stage) => {
      const measured: Measured[] = [];
      for (const kind of kinds) measured.push(await measureKind(stage, prefix, kind, quick ? QUICK : FULL));
      const rows = measured.flatMap((one) => one.rows);
      const isSpeed = (row: Row) => row.target === "";
      return {
        rows: [...rows.filter((row) => !isSpeed(row)), ...rows.filter(isSpeed)],
        notes: measured.flatMap((one) => one.notes),
      };
    }),
});

const STREAMS = [IN_ONE_PIECE, ONE_BY_ONE];

export const cpu: Measure = measureOf({
  name: "cpu",
  about: "CPU time per request against the pass-through, requests per second, events per commit",
  style: "chat",
  prefix: "",
  kinds: [WHOLE, SPREAD, ...STREAMS],
});

const TRANSLATED = STREAMS.map(translatedKind);
const about = "the same for streams whose provider speaks the other style";

const toMessages: Measure = measureOf({
  name: "translated",
  about,
  style: "chat",
  keys: "messages",
  prefix: "chat by a messages key, ",
  kinds: TRANSLATED,
});
const toChat: Measure = measureOf({
  name: "translated",
  about,
  style: "messages",
  keys: "chat",
  prefix: "messages by a chat key, ",
  kinds: TRANSLATED,
});

/** The pass-through asks the provider in the client's own style, so the ratio includes the translation. */
export const translated: Measure = {
  name: "translated",
  about,
  async run(quick) {
    const measured = [await toMessages.run(quick), await toChat.run(quick)];
    return { rows: measured.flatMap((one) => one.rows), notes: measured.flatMap((one) => one.notes) };
  },
};

export const messages: Measure = measureOf({
  name: "messages",
  about: "the same for /v1/messages",
  style: "messages",
  prefix: "messages, ",
  kinds: [WHOLE, ...STREAMS],
});
