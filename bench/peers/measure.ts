// Measures all configurations in turn with the load generator of the benchmark: CPU time and requests a second at 64 requests in
// flight, and what each adds to a request when only one is in flight, compared with a call straight to the provider.

import { WrongResult } from "../books.ts";
import { type Spent, spend } from "../cpu.ts";
import { median } from "../figures.ts";
import { type Kind, ONE_BY_ONE, WHOLE } from "../kinds.ts";
import type { Target } from "../load.ts";
import { inTurns, ratiosOf } from "../rounds.ts";
import type { Stage } from "../stage.ts";
import { bodyText, STYLES } from "../styles.ts";
import { NO_WARM_UP, type WarmUpTimes, warmUp } from "../warm-up.ts";
import type { Running } from "./peer.ts";

/** Medians of rounds; `ratios` has one figure for each round. */
export interface LoadFigures {
  readonly cpuUs: number;
  readonly perS: number;
  /** CPU time as a ratio to that of the first configuration in the same round. */
  readonly ratios: readonly number[];
}

export interface PeerFigures {
  readonly whole: LoadFigures;
  readonly stream: LoadFigures;
  /** Milliseconds that the median request takes longer than straight to the provider: the whole answer, the first event. */
  readonly addedWholeMs: number;
  readonly addedFirstEventMs: number;
  /** Resident memory of all its processes, right after the load. */
  readonly rssBytes: number;
}

/** Each configuration is warmed up for as long before the rounds of a kind, since runtimes compile what they have run often. */
interface Effort extends WarmUpTimes {
  readonly rounds: number;
  readonly roundMs: number;
  /** Requests of a round with one in flight. They are few, because a stream takes some configurations a tenth of a second. */
  readonly requests: number;
}

const FULL: Effort = { warmUpMs: 20_000, warmUpMsMax: 20_000, rounds: 6, roundMs: 3_000, requests: 150 };
const QUICK: Effort = { ...NO_WARM_UP, rounds: 2, roundMs: 1_000, requests: 60 };
/** Requests of each such round that only warm up. */
const WARM_UP = 20;

/** Returns the figures in the order of `running`, to whose first one the ratios refer. */
export async function measurePeers(
  stage: Stage,
  running: readonly Running[],
  quick: boolean,
): Promise<PeerFigures[]> {
  const effort = quick ? QUICK : FULL;
  const whole = await loadAll(stage, running, WHOLE, effort);
  const stream = await loadAll(stage, running, ONE_BY_ONE, effort);
  const rssBytes = running.map(({ process }) => process.rssBytes());
  const targets = running.map(({ target }) => target);
  const addedWholeMs = await addedMs(stage, targets, WHOLE, "whole", effort);
  const addedFirstEventMs = await addedMs(stage, targets, ONE_BY_ONE, "first_content", effort);
  return running.map((_, nth) => ({
    whole: whole[nth]!,
    stream: stream[nth]!,
    addedWholeMs: addedWholeMs[nth]!,
    addedFirstEventMs: addedFirstEventMs[nth]!,
    rssBytes: rssBytes[nth]!,
  }));
}

async function loadAll(
  stage: Stage,
  running: readonly Running[],
  kind: Kind,
  effort: Effort,
): Promise<LoadFigures[]> {
  const loadOf =
    ({ process, target }: Running) =>
    (ms: number) =>
      spend(stage.load, [process], [target], kind, ms);
  for (const one of running) await warmUp([one.process], effort, loadOf(one));
  const sides = running.map(loadOf).map((load) => () => load(effort.roundMs));
  const spent = await inTurns(sides, effort.rounds);
  const cpuOf = (all: readonly Spent[]) => all.map(({ cpuUs }) => cpuUs);
  return spent.map((all) => ({
    cpuUs: median(cpuOf(all)),
    perS: median(all.map(({ perS }) => perS)),
    ratios: ratiosOf(cpuOf(all), cpuOf(spent[0]!)),
  }));
}

async function addedMs(
  stage: Stage,
  targets: readonly Target[],
  kind: Kind,
  times: "whole" | "first_content",
  { rounds, requests }: Effort,
): Promise<number[]> {
  const direct: Target = { url: stage.upstream.url, keys: ["sk-direct"] };
  const all: number[][] = [direct, ...targets].map(() => []);
  for (let round = 0; round < rounds; round++) {
    const loaded = await stage.load({
      targets: [direct, ...targets],
      ask: kind,
      concurrency: 1,
      most: { requests: WARM_UP + requests },
      times,
    });
    for (const [nth, some] of loaded.times.entries()) all[nth]!.push(...some.slice(WARM_UP));
  }
  const [straight, ...through] = all.map(median);
  return through.map((p50) => p50 - straight!);
}

/**
 * Asks a configuration once for each kind, and then under load, before it takes part. Returns why it cannot, or null. It has to
 * give the provider's text, and a stream in as many events with text.
 */
export async function faultOfPeer(stage: Stage, { process, target }: Running): Promise<string | null> {
  const direct: Target = { url: stage.upstream.url, keys: ["sk-direct"] };
  try {
    for (const kind of [WHOLE, ONE_BY_ONE]) {
      const [wanted, got] = [await askOnce(direct, kind), await askOnce(target, kind)];
      if (wanted.join("") !== got.join("")) return "its answer has another text than the provider's";
      if (wanted.length !== got.length)
        return `a stream has ${got.length} events with text instead of ${wanted.length}`;
      await spend(stage.load, [process], [target], kind, TRIAL_MS);
    }
    return null;
  } catch (error) {
    if (error instanceof WrongResult) return error.message.split("\n")[0]!.slice(0, 200);
    throw error;
  }
}

const TRIAL_MS = 300;

/** The texts of an answer: one of a whole answer, one for each event of a stream that has text. */
async function askOnce({ url, keys, headers = {} }: Target, kind: Kind): Promise<string[]> {
  const { path, headers: headersOf } = STYLES.chat;
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...headersOf(keys[0]!), ...headers, "content-type": "application/json" },
    body: bodyText("chat", kind),
  });
  const text = await response.text();
  if (!response.ok) throw new WrongResult(`${response.status} ${text}`);
  if (!kind.stream) return [(JSON.parse(text) as WholeChat).choices[0]!.message.content];
  return [...text.matchAll(/^data: (\{.*)$/gm)]
    .map(([, event]) => (JSON.parse(event!) as ChatEvent).choices[0]?.delta.content ?? "")
    .filter((content) => content !== "");
}

interface WholeChat {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
}

interface ChatEvent {
  readonly choices: readonly { readonly delta: { readonly content?: string | null } }[];
}
