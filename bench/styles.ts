// The two styles of request that are measured, and all in which they differ: address, headers, body, how a stream ends.
// Load, stage and upstream read it; nothing here measures.

export type StyleName = "chat" | "messages";

/** What is asked: the same few words in either style. */
export interface Ask {
  readonly stream: boolean;
  /** For the upstream: how it is to answer (see upstream.ts). */
  readonly word?: string;
}

interface Style {
  readonly path: string;
  readonly model: string;
  /** As its SDK sends them: the key in the first. */
  headers(key: string): Readonly<Record<string, string>>;
  body(ask: Ask): object;
  /** The last bytes of a stream that was said to its end. */
  readonly streamEnd: string;
}

const SYSTEM = "You are a helpful assistant who answers in plain words.";
const MAX_TOKENS = 256;
const CHAT_MODEL = "gpt-4o-mini";
const MESSAGES_MODEL = "claude-haiku-4-5";

const spoken = (word = "") => ({ role: "user", content: `Say something about trees. ${word}` });

export const STYLES: Readonly<Record<StyleName, Style>> = {
  chat: {
    path: "/v1/chat/completions",
    model: CHAT_MODEL,
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    body: ({ stream, word }) => ({
      model: CHAT_MODEL,
      messages: [{ role: "system", content: SYSTEM }, spoken(word)],
      max_tokens: MAX_TOKENS,
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    }),
    streamEnd: "data: [DONE]\n\n",
  },
  messages: {
    path: "/v1/messages",
    model: MESSAGES_MODEL,
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
    body: ({ stream, word }) => ({
      model: MESSAGES_MODEL,
      system: SYSTEM,
      messages: [spoken(word)],
      max_tokens: MAX_TOKENS,
      ...(stream ? { stream: true } : {}),
    }),
    streamEnd: 'data: {"type":"message_stop"}\n\n',
  },
};

/** The models of both styles, for an Owner's LEVEL_MAPPER. */
export const LEVEL_MAPPER = "gpt-*=1,claude-*=1";

export const bodyText = (style: StyleName, ask: Ask): string => JSON.stringify(STYLES[style].body(ask));

/** Secrets that are made of this word are refused by the upstream. */
export const DEAD = "dead";
