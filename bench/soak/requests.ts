// The requests of a soak: whole answers and streams, in either style, with keys of that style and translated, and streams
// that their client breaks off. Each notes the price that its answer stated.

import { nanoOf, type StatedPrices } from "./stated-prices.ts";
import { CHAT, MESSAGES, type SoakAccount, type World } from "./world.ts";

/** How a request ended for its client. */
export type Ending = "answered" | "aborted" | "refused" | "wrong";

/** One kind of request. */
export interface RequestKind {
  readonly name: string;
  readonly path: "/v1/chat/completions" | "/v1/messages";
  /** Which one it is decides the style of the provider's keys. */
  readonly model: string;
  readonly stream: boolean;
  /** Its client leaves after the first bytes. */
  readonly aborts?: true;
}

const CHAT_PATH = "/v1/chat/completions";
const MESSAGES_PATH = "/v1/messages";

/** All kinds, in the order in which they take turns; the first two come most often. */
export const REQUEST_KINDS: readonly RequestKind[] = [
  { name: "whole", path: CHAT_PATH, model: CHAT, stream: false },
  { name: "stream", path: CHAT_PATH, model: CHAT, stream: true },
  { name: "messages, whole", path: MESSAGES_PATH, model: MESSAGES, stream: false },
  { name: "messages, stream", path: MESSAGES_PATH, model: MESSAGES, stream: true },
  { name: "chat by a messages key, stream", path: CHAT_PATH, model: MESSAGES, stream: true },
  { name: "messages by a chat key, stream", path: MESSAGES_PATH, model: CHAT, stream: true },
  { name: "chat by a messages key, whole", path: CHAT_PATH, model: MESSAGES, stream: false },
  { name: "stream, broken off by its client", path: CHAT_PATH, model: CHAT, stream: true, aborts: true },
];

/** Refusals that are no fault: a store that a busy machine makes slow, and the limit of aborts. */
const REFUSALS = new Set(["service_unavailable", "too_many_aborts"]);
const COST = /^: cost=(\S+)$/m;
const STREAM_ENDS = ["data: [DONE]", "event: message_stop"];
const REQUEST_MS_MAX = 60_000;

/** Sends one request, reads what comes, and adds a line to `findings` when that was wrong. */
export async function sendRequest(
  { service }: Pick<World, "service">,
  book: StatedPrices,
  request: {
    readonly kind: RequestKind;
    readonly account: SoakAccount;
    readonly key?: string;
    readonly id: string;
  },
  findings: string[],
): Promise<Ending> {
  const { kind, account, id } = request;
  const wrong = (why: string): Ending => {
    findings.push(`${kind.name}: ${id}: ${why}`);
    return "wrong";
  };
  book.sent(account.name, id);
  const abort = new AbortController();
  const late = setTimeout(() => abort.abort(), REQUEST_MS_MAX);
  try {
    const response = await fetch(service.url + kind.path, {
      method: "POST",
      signal: abort.signal,
      headers: {
        authorization: `Bearer ${request.key ?? account.key}`,
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
        "x-request-id": id,
        "x-arbor-cost": "stream",
      },
      body: bodyOf(kind),
    });
    if (response.status !== 200) {
      const text = await response.text();
      const code = /"code":"(\w+)"/.exec(text)?.[1] ?? "";
      return REFUSALS.has(code) ? "refused" : wrong(`${response.status} ${text}`);
    }
    if (kind.aborts) {
      await response.body!.getReader().read();
      abort.abort();
      return "aborted";
    }
    const text = await response.text();
    if (kind.stream && !STREAM_ENDS.some((end) => text.includes(end)))
      return wrong(`no end: ${text.slice(-300)}`);
    const cost = kind.stream ? COST.exec(text)?.[1] : response.headers.get("x-arbor-cost");
    if (cost == null) return wrong(`no price: ${text.slice(-300)}`);
    book.stated(account.name, id, nanoOf(cost));
    return "answered";
  } catch (error) {
    return wrong(String(error));
  } finally {
    clearTimeout(late);
  }
}

/** Streams that are broken off last longer than their first bytes. */
function bodyOf({ model, stream, aborts }: RequestKind): string {
  const script = aborts
    ? "[[output=200 chunk_ms=20]]"
    : stream
      ? "[[output=40 chunk_ms=2]]"
      : "[[output=30]]";
  const messages = [{ role: "user", content: `Say something about trees. ${script}` }];
  return JSON.stringify({ model, messages, max_tokens: 400, ...(stream && { stream: true }) });
}
