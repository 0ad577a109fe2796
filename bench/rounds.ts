// Rounds in which several sides take turns, so that all of them meet the same moments of the machine.

/**
 * Measures every side once in each round, and begins each round with the next side. The first round warms all of them up and
 * does not count. Returns the figures by side, then by round.
 */
export async function inTurns<T>(sides: readonly (() => Promise<T>)[], rounds: number): Promise<T[][]> {
  const figures: T[][] = sides.map(() => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [nth] of sides.entries()) {
      const side = (nth + round) % sides.length;
      const figure = await sides[side]!();
      if (round > 0) figures[side]!.push(figure);
    }
  }
  return figures;
}

/** The ratio of two sides in each round. */
export const ratiosOf = (figures: readonly number[], others: readonly number[]): number[] =>
  figures.map((figure, round) => figure / others[round]!);
