// CPU time a request costs the server's process, as a ratio to the pass-through's, at 64 requests under way, in either style.
// The two take turns in short rounds and each round gives one ratio, so that a noisy neighbour spoils a round and not
// the result. The first round warms both up and does not count.

import type { Books } from "./books.ts";
import { grouped, median, range, sum } from "./figures.ts";
import type { Loaded, Target } from "./load.ts";
import type { Measure, Measured, Row } from "./measure.ts";
import type { Process } from "./process.ts";
import { onStage, type Stage } from "./stage.ts";
import type { Ask, StyleName } from "./styles.ts";

interface Kind extends Ask {
  readonly what: string;
  readonly accounts: number;
  readonly target: string;
}

const WHOLE: Kind = { what: "whole, 1 account", accounts: 1, stream: false, target: "≤ 3" };
const STREAMS: readonly Kind[] = [
  { what: "stream of 100 events in one piece", accounts: 1, stream: true, target: "≤ 1.5" },
  {
    what: "stream of 100 events one by one",
    accounts: 1,
    stream: true,
    word: "bench-apart",
    target: "≤ 1.5",
  },
];
const MANY_ACCOUNTS: Kind = { ...WHOLE, what: "whole, 50 accounts", accounts: 50 };

/** Requests under way. */
export const CONCURRENCY = 64;

export interface Spent {
  /** A request, by all the servers together. */
  readonly cpuUs: number;
  readonly perS: number;
  readonly requests: number;
  /** By target, then by key. */
  readonly answered: Loaded["answered"];
}

/** Asks servers for so long with 64 requests under way, and reads what that cost their processes. */
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

async function measureKind(
  stage: Stage,
  prefix: string,
  kind: Kind,
  rounds: number,
  ms: number,
): Promise<Measured> {
  const service: Spent[] = [];
  const passThrough: Spent[] = [];
  const before = await stage.admin.counters();
  for (let round = 0; round < rounds; round++) {
    const ours = await spend(stage.load, [stage.service], [stage.serviceFor(kind.accounts)], kind, ms);
    const theirs = await spend(stage.load, [stage.passThrough], [stage.yardstick], kind, ms);
    if (round === 0) continue;
    service.push(ours);
    passThrough.push(theirs);
  }
  const after = await stage.admin.counters();
  const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  const cpu = (spent: readonly Spent[]) => `${median(spent.map(({ cpuUs }) => cpuUs)).toFixed(0)} µs`;
  const perS = (spent: readonly Spent[]) => grouped(median(spent.map((one) => one.perS)));
  const ratios = service.map((one, i) => one.cpuUs / passThrough[i]!.cpuUs);
  const what = prefix + kind.what;
  const row: Row = {
    what: `CPU per request, ${what}`,
    service: cpu(service),
    passThrough: cpu(passThrough),
    result: `× ${median(ratios).toFixed(2)} (${range(ratios, 2)})`,
    target: kind.target,
  };
  const speed: Row = {
    what: `Requests per second, ${what}`,
    service: perS(service),
    passThrough: perS(passThrough),
    result: "",
    target: "",
  };
  const batching = (grown("events") / grown("commits")).toFixed(1);
  return {
    rows: [row, speed],
    notes: [`${what}: ${batching} events per commit, ${grouped(grown("turns"))} turns`],
  };
}

interface Series {
  readonly name: string;
  readonly about: string;
  readonly style: StyleName;
  /** What the provider keys speak, where it is another style. */
  readonly keys?: StyleName;
  /** Tells its rows from those of the other style. */
  readonly prefix: string;
  readonly kinds: readonly Kind[];
}

const measureOf = ({ name, about, style, keys = style, prefix, kinds }: Series): Measure => ({
  name,
  about,
  run: (quick) =>
    onStage({ style, keys, accounts: Math.max(...kinds.map((kind) => kind.accounts)) }, async (stage) => {
      const measured: Measured[] = [];
      for (const kind of kinds)
        measured.push(await measureKind(stage, prefix, kind, quick ? 4 : 7, quick ? 1_000 : 3_000));
      const rows = measured.flatMap((one) => one.rows);
      const isSpeed = (row: Row) => row.target === "";
      return {
        rows: [...rows.filter((row) => !isSpeed(row)), ...rows.filter(isSpeed)],
        notes: measured.flatMap((one) => one.notes),
      };
    }),
});

export const cpu: Measure = measureOf({
  name: "cpu",
  about: "CPU time per request against the pass-through, requests per second, events per commit",
  style: "chat",
  prefix: "",
  kinds: [WHOLE, MANY_ACCOUNTS, ...STREAMS],
});

const TRANSLATED: readonly Kind[] = STREAMS.map((kind) => ({ ...kind, target: "≤ 4" }));
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

/** The pass-through asks the provider in the client's own style: what a translation costs beside none at all. */
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
