// Finds a mutation again after files moved and names changed: among the mutations that the sources now admit, of the same
// kind, the one whose line, surroundings and function are most alike. A mutation that no line resembles is not located.

import type { Candidate, Mutation } from "./kinds.ts";

/** Old path, or a directory of old paths, to the new one, or to several where a file was split. */
export type Moves = Readonly<Record<string, string | readonly string[]>>;

/** How alike a line must be at least, in the file where it is expected and in any other. */
const ALIKE_LEAST = 0.6;
const ALIKE_ELSEWHERE_LEAST = 0.8;

export interface Located {
  readonly candidate: Candidate;
  /** 1: the same line with the same surroundings in the same function. */
  readonly alike: number;
}

/** Returns null where nothing in the sources resembles it. */
export function locate(
  mutation: Mutation,
  candidates: readonly Candidate[],
  moves: Moves = {},
): Located | null {
  const paths = expectedPaths(mutation.file, moves);
  const same = candidates.filter((one) => isSameChange(one, mutation));
  const here = best(
    mutation,
    same.filter(({ file }) => paths.includes(file)),
    ALIKE_LEAST,
  );
  return here ?? best(mutation, same, ALIKE_ELSEWHERE_LEAST);
}

/** Names may have changed within a removed statement, and digits may be grouped otherwise. */
function isSameChange(candidate: Candidate, { kind, before, after }: Mutation): boolean {
  if (candidate.kind !== kind) return false;
  if (kind === "statement" || kind === "code") return true;
  return candidate.before.replaceAll("_", "") === before.replaceAll("_", "") && candidate.after === after;
}

function expectedPaths(file: string, moves: Moves): readonly string[] {
  const from = Object.keys(moves)
    .filter((old) => file === old || file.startsWith(`${old}/`))
    .sort((a, b) => b.length - a.length)[0];
  if (from === undefined) return [file];
  const rest = file.slice(from.length);
  return [moves[from]!].flat().map((to) => to + rest);
}

function best(mutation: Mutation, candidates: readonly Candidate[], least: number): Located | null {
  let found: (Located & { distance: number }) | null = null;
  for (const candidate of candidates) {
    const line = similarity(mutation.text, candidate.text);
    if (line < least || (mutation.kind === "code" && similarity(mutation.before, candidate.before) < 1))
      continue;
    const around =
      (similarity(mutation.above, candidate.above) + similarity(mutation.below, candidate.below)) / 2;
    const within = similarity(mutation.within, candidate.within);
    const nth = mutation.nth === candidate.nth ? 1 : 0;
    const alike = 0.6 * line + 0.2 * around + 0.15 * within + 0.05 * nth;
    const distance = Math.abs(mutation.line - candidate.line);
    if (found === null || alike > found.alike || (alike === found.alike && distance < found.distance)) {
      found = { candidate, alike, distance };
    }
  }
  return found === null ? null : { candidate: found.candidate, alike: found.alike };
}

/** Dice's coefficient of the words and signs of two lines; parts of a compound name are words of their own. */
export function similarity(one: string, two: string): number {
  if (one === two) return 1;
  const [a, b] = [wordsOf(one), wordsOf(two)];
  const left = [...b];
  let common = 0;
  for (const word of a) {
    const at = left.indexOf(word);
    if (at < 0) continue;
    left.splice(at, 1);
    common++;
  }
  return (2 * common) / Math.max(1, a.length + b.length);
}

const wordsOf = (line: string): string[] =>
  (line.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\sA-Za-z\d]/g) ?? []).map((word) => word.toLowerCase());
