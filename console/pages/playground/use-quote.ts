// The quote of what is typed: asked for when the typing pauses, never for every letter.

import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { Quote } from "../../api/answers.ts";
import { callApi } from "../../api/call.ts";
import type { CallFailed } from "../../api/failure.ts";
import { CHAT_PATH, type ChatBody } from "./conversation.ts";

const TYPING_MS = 300;

/** Asks what a request would cost. Rejects as `callApi`. */
export const quoteOf = async (body: ChatBody, signal: AbortSignal): Promise<Quote> =>
  (await callApi({
    ...{ method: "POST", path: "/v1/quote", body: { path: CHAT_PATH, body }, signal, isQuestion: true },
  })) as Quote;

/** The quote of a request; `body` is null while nothing is typed. The conversation in it is not kept beyond the page. */
export function useQuote(body: ChatBody | null) {
  const text = body === null ? null : JSON.stringify(body);
  const [settled] = useDebouncedValue(text, TYPING_MS);
  const asked = useQuery<Quote, CallFailed>({
    queryKey: ["/v1/quote", settled],
    queryFn: ({ signal }) => quoteOf(JSON.parse(settled!), signal),
    enabled: settled !== null,
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  /** Whether the quote is that of what is typed now. */
  const isCurrent = text !== null && text === settled && !asked.isPlaceholderData && asked.data !== undefined;
  return { quote: asked.data, failure: asked.error?.failure ?? null, isCurrent };
}
