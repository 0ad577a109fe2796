// From an answer to its score: what the dialect says, with keep-alives, bent by the fault, compressed.
// And the answers that are said in one breath. It decides nothing: the script has.

import { hiddenTokens } from "./answer.ts";
import type { Dialect, Serving } from "./dialect.ts";
import { FAULTS, withPings } from "./faults.ts";
import { gzipped } from "./gzip.ts";
import { namedWording } from "./openai.ts";
import type { Score } from "./score.ts";
import type { Script } from "./script.ts";

export function streamScore(dialect: Dialect, serving: Serving): Score {
  const { script } = serving;
  const wording = dialect.wording(serving);
  const score: Score = {
    pieces: withPings(dialect.stream(serving), script.pings ?? 0, wording.ping),
    ending: "end",
    firstMs: script.first_ms ?? 0,
    gapMs: script.chunk_ms ?? 0,
  };
  return packed(faultOf(script)?.stream?.(score, script, wording) ?? score, script);
}

export function wholeScore(dialect: Dialect, serving: Serving): Score {
  const { script, answer } = serving;
  const tokens = answer.usage.completion - hiddenTokens(answer.usage);
  const score = { ...oneBreath(dialect.whole(serving), tokens), firstMs: script.first_ms ?? 0 };
  return packed(faultOf(script)?.whole?.(score, script, dialect.wording(serving)) ?? score, script);
}

/** A body that no fault bends: of a refusal, of a list. */
export const plainScore = (body: string, script: Script): Score => packed(oneBreath(body, 0), script);

/** Something kept, given back: as bent as an answer can be. */
export function keptScore(body: string, script: Script): Score {
  const score = { ...oneBreath(body, 0), firstMs: script.first_ms ?? 0 };
  return packed(faultOf(script)?.whole?.(score, script, namedWording("delta")) ?? score, script);
}

const oneBreath = (body: string | Uint8Array, tokens: number): Score => ({
  pieces: [{ data: body, tokens }],
  lengthBytes: Buffer.byteLength(body),
  ending: "end",
  firstMs: 0,
  gapMs: 0,
});

const faultOf = (script: Script) => FAULTS[script.fault ?? ""];

const packed = (score: Score, script: Script): Score => (script.gzip === undefined ? score : gzipped(score));

/** What the head says of the packing. */
export const packing = (script: Script): Readonly<Record<string, string>> =>
  script.gzip === undefined ? {} : { "content-encoding": "gzip" };
