// How the messages dialect reports usage: the honest form and the forms met in the wild, one row each.
// Cached and cache-written tokens stand beside `input_tokens` here, not inside.

import type { Usage } from "./answer.ts";
import type { UsageForm } from "./script.ts";

/** Which events of a stream carry usage, beside the message's start. */
export type MessagesUsagePlace = "end" | "end_twice" | "last_content" | "every_content" | "nowhere";

/** The body of a usage object; undefined leaves it out. */
type Say = (usage: Usage, tier: string) => object | undefined;

interface Form {
  readonly place: MessagesUsagePlace;
  readonly whole: Say;
  /** In the message that opens a stream. */
  readonly start: Say;
  /** In the events that carry it after that. */
  readonly later: Say;
}

/** Output tokens of a stream that has only begun: a placeholder, not to be added to anything. */
const STARTED_TOKENS = 3;

const later: Say = (usage) => ({
  input_tokens: beside(usage),
  cache_creation_input_tokens: usage.cacheWrite,
  cache_read_input_tokens: usage.cached,
  output_tokens: usage.completion,
  output_tokens_details: usage.reasoning > 0 ? { thinking_tokens: usage.reasoning } : null,
  server_tool_use: usage.searches > 0 ? { web_search_requests: usage.searches, web_fetch_requests: 0 } : null,
});

const full: Say = (usage, tier) => ({
  ...later(usage, tier),
  cache_creation: {
    ephemeral_5m_input_tokens: usage.cacheWrite - usage.cacheWrite1h,
    ephemeral_1h_input_tokens: usage.cacheWrite1h,
  },
  service_tier: tier,
});

const HONEST: Form = {
  place: "end",
  whole: full,
  start: (usage, tier) => full({ ...usage, completion: STARTED_TOKENS, reasoning: 0 }, tier),
  later,
};

const everywhere = (place: MessagesUsagePlace, say: Say): Form => ({
  place,
  whole: say,
  start: say,
  later: say,
});

const zeros: Say = () => ({
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
});

const garbage: Say = () => ({
  input_tokens: -5,
  cache_creation_input_tokens: 99_999_999_999,
  cache_read_input_tokens: "many",
  output_tokens: "12",
  output_tokens_details: { thinking_tokens: 1e300 },
});

/** The usage does not say what the cache did: all of the prompt is input. */
const withoutDetails =
  (say: Say): Say =>
  (usage, tier) => ({
    ...say(usage, tier),
    input_tokens: usage.prompt,
    cache_creation_input_tokens: null,
    cache_read_input_tokens: null,
    cache_creation: null,
    output_tokens_details: null,
  });

/** What `usage=iterations` spends on summing up the conversation, in no total. */
export const COMPACTION = { prompt: 1_000, completion: 100 };

const iterationsOf: Say = (usage, tier) => [
  {
    type: "compaction",
    input_tokens: COMPACTION.prompt,
    output_tokens: COMPACTION.completion,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: null,
  },
  { type: "message", ...later(usage, tier) },
];

export const MESSAGES_USAGE: Readonly<Record<UsageForm, Form>> = {
  asked: HONEST,
  always: HONEST,
  none: everywhere("nowhere", () => undefined),
  zero: everywhere("end", zeros),
  last_chunk: { ...HONEST, start: zeros },
  last_content: { ...HONEST, place: "last_content", start: zeros },
  cumulative: { ...HONEST, place: "every_content" },
  duplicate: { ...HONEST, place: "end_twice" },
  output_only: { ...HONEST, later: (usage) => ({ output_tokens: usage.completion }) },
  null_details: {
    place: "end",
    whole: withoutDetails(HONEST.whole),
    start: withoutDetails(HONEST.start),
    later: withoutDetails(HONEST.later),
  },
  garbage: everywhere("end", garbage),
  // Habits of chat hosts that have no counterpart here.
  deepseek: HONEST,
  moonshot: HONEST,
  beside: HONEST,
  iterations: {
    ...HONEST,
    whole: (usage, tier) => ({ ...full(usage, tier), iterations: iterationsOf(usage, tier) }),
    later: (usage, tier) => ({ ...later(usage, tier), iterations: iterationsOf(usage, tier) }),
  },
};

const beside = (usage: Usage): number => Math.max(0, usage.prompt - usage.cached - usage.cacheWrite);
