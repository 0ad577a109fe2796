// Combines the non-token usage of a request with that of its answer, for whole answers and streams.

import type { NonTokenUsage } from "./dialect.ts";

/** No usage other than tokens. */
export const NO_NON_TOKEN_USAGE: NonTokenUsage = Object.freeze({});

/**
 * Combines `requested`, read from the request, with `shown`, read from the answer, which takes precedence. A
 * known duration precedes an estimated one; of two known durations the longer one counts, since the words end
 * before the silence after them. A duration of 0 seconds is omitted. Web searches count only if the answer
 * shows them, not if they were only allowed.
 */
export function measuredOf(
  requested: NonTokenUsage,
  shown: NonTokenUsage = NO_NON_TOKEN_USAGE,
): NonTokenUsage {
  if (requested === NO_NON_TOKEN_USAGE && shown === NO_NON_TOKEN_USAGE) return NO_NON_TOKEN_USAGE;
  const { webSearches: _, ...certain } = requested;
  const { seconds: __, estimated: ___, ...rest } = { ...certain, ...shown };
  const image = rest.image === undefined ? {} : { image: { ...requested.image, ...shown.image } };
  const known = [requested, shown].map((one) => (one.estimated ? 0 : (one.seconds ?? 0)));
  const seconds = Math.max(...known);
  if (seconds > 0) return { ...rest, ...image, seconds };
  const guessed = shown.seconds || requested.seconds;
  return guessed ? { ...rest, ...image, seconds: guessed, estimated: true } : { ...rest, ...image };
}
