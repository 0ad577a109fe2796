// Counts the attempts of a node by the Level of their key and by how they ended. Plain numbers, read by the
// metrics. The number of series is bounded: Levels beyond the bound count as one.

import type { FailureKind } from "../../upstream/upstream-failure.ts";
import { seriesOfLevel } from "./level-series.ts";

const noResults = (): Map<string, number> => new Map();

/** The attempts of a node. */
export class AttemptCounts {
  private readonly byLevel = new Map<string, Map<string, number>>();

  /** Counts an attempt with a key of this Level. */
  count(level: number, result: FailureKind | "ok"): void {
    const ofLevel = seriesOfLevel(this.byLevel, String(level), noResults);
    ofLevel.set(result, (ofLevel.get(result) ?? 0) + 1);
  }

  /** Returns the counts, as `[level, result, count]`. */
  all(): readonly (readonly [level: string, result: string, count: number])[] {
    return [...this.byLevel].flatMap(([level, results]) =>
      [...results].map(([result, count]) => [level, result, count] as const),
    );
  }
}
