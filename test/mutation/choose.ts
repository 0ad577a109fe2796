// Draws mutations: the same seed draws the same ones from the same sources. The kind is drawn first, since there are many
// more operators and constants than anything else.

import type { Candidate, Kind } from "./kinds.ts";

const SHARES: Readonly<Record<Kind, number>> = { operator: 0.45, statement: 0.3, constant: 0.2, code: 0.05 };

export function choose(
  candidates: readonly Candidate[],
  given: { count: number; seed: number; parses: (candidate: Candidate) => boolean },
): Candidate[] {
  const random = randomFrom(given.seed);
  const left = new Map(
    Object.keys(SHARES).map((kind) => [kind as Kind, candidates.filter((one) => one.kind === kind)]),
  );
  const chosen: Candidate[] = [];
  while (chosen.length < given.count) {
    const kind = drawnKind(
      random(),
      [...left].filter(([, rest]) => rest.length > 0).map(([one]) => one),
    );
    if (kind === null) break;
    const rest = left.get(kind)!;
    const [candidate] = rest.splice(Math.floor(random() * rest.length), 1);
    if (given.parses(candidate!)) chosen.push(candidate!);
  }
  return chosen;
}

/** Returns null where no kind is left. */
function drawnKind(at: number, kinds: readonly Kind[]): Kind | null {
  let rest = at * kinds.reduce((sum, kind) => sum + SHARES[kind], 0);
  for (const kind of kinds) {
    rest -= SHARES[kind];
    if (rest < 0) return kind;
  }
  return kinds.at(-1) ?? null;
}

/** Numbers from 0 to 1, by Mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
