// What a request asked for and what its answer showed, as one measure: for whole answers and for streams alike.

import type { NonTokenUsage } from "./dialect.ts";

/**
 * What was shown goes before what was asked. Of two durations the one that is known goes before the one that is guessed; of
 * two that are known the longer one holds, since words end before the silence behind them does. None is ever 0. Searches that
 * were allowed are none that were made.
 */
export function measuredOf(asked: NonTokenUsage, shown: NonTokenUsage = {}): NonTokenUsage {
  const { webSearches: _, ...certain } = asked;
  const { seconds: __, estimated: ___, ...rest } = { ...certain, ...shown };
  const image = rest.image === undefined ? {} : { image: { ...asked.image, ...shown.image } };
  const known = [asked, shown].map((one) => (one.estimated ? 0 : (one.seconds ?? 0)));
  const seconds = Math.max(...known);
  if (seconds > 0) return { ...rest, ...image, seconds };
  const guessed = shown.seconds || asked.seconds;
  return guessed ? { ...rest, ...image, seconds: guessed, estimated: true } : { ...rest, ...image };
}
