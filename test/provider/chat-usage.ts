// How the chat dialect reports usage: the honest form and the forms met in the wild, one row each.

import type { Usage } from "./answer.ts";
import type { UsageForm } from "./script.ts";

/** Where a stream carries its usage. */
export type UsagePlace =
  | "own_chunk"
  | "own_chunk_twice"
  | "finish_chunk"
  | "content_chunk"
  | "every_chunk"
  | "nowhere";

interface Form {
  readonly place: (asked: boolean) => UsagePlace;
  readonly body: (usage: Usage) => object;
}

const ownWhenAsked = (asked: boolean): UsagePlace => (asked ? "own_chunk" : "nowhere");

export const CHAT_USAGE: Readonly<Record<UsageForm, Form>> = {
  asked: { place: ownWhenAsked, body: honest },
  none: { place: () => "nowhere", body: honest },
  zero: {
    place: ownWhenAsked,
    body: () => ({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }),
  },
  last_chunk: { place: () => "finish_chunk", body: honest },
  last_content: { place: () => "content_chunk", body: honest },
  cumulative: { place: () => "every_chunk", body: honest },
  duplicate: { place: (asked) => (asked ? "own_chunk_twice" : "nowhere"), body: honest },
  output_only: { place: ownWhenAsked, body: (usage) => ({ completion_tokens: usage.completion }) },
  always: { place: () => "own_chunk", body: honest },
  null_details: {
    place: ownWhenAsked,
    body: (usage) => ({
      ...honest(usage),
      prompt_tokens_details: null,
      completion_tokens_details: null,
    }),
  },
  garbage: {
    place: ownWhenAsked,
    body: () => ({
      prompt_tokens: -5,
      completion_tokens: "12",
      total_tokens: 1e300,
      prompt_tokens_details: { cached_tokens: 99_999_999_999, audio_tokens: -1 },
      completion_tokens_details: "many",
    }),
  },
  deepseek: {
    place: () => "finish_chunk",
    body: (usage) => ({
      ...honest(usage),
      prompt_cache_hit_tokens: usage.cached,
      prompt_cache_miss_tokens: usage.prompt - usage.cached,
    }),
  },
  moonshot: {
    place: () => "finish_chunk",
    body: (usage) => ({ ...totals(usage), cached_tokens: usage.cached }),
  },
  // A habit of the messages style.
  iterations: { place: ownWhenAsked, body: honest },
  // Reasoning beside the completion: only the total shows that it is not inside.
  beside: {
    place: ownWhenAsked,
    body: (usage) => ({ ...honest(usage), completion_tokens: usage.completion - usage.reasoning }),
  },
};

function totals(usage: Usage) {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
  };
}

function honest(usage: Usage): object {
  const prompt = {
    ...(usage.cached > 0 && { cached_tokens: usage.cached }),
    ...(usage.cacheWrite > 0 && { cache_write_tokens: usage.cacheWrite }),
    ...(usage.audioIn > 0 && { audio_tokens: usage.audioIn }),
  };
  const completion = {
    ...(usage.reasoning > 0 && { reasoning_tokens: usage.reasoning }),
    ...(usage.audioOut > 0 && { audio_tokens: usage.audioOut }),
  };
  return {
    ...totals(usage),
    ...(Object.keys(prompt).length > 0 && { prompt_tokens_details: prompt }),
    ...(Object.keys(completion).length > 0 && { completion_tokens_details: completion }),
  };
}
