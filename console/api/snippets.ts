// Code that asks a model, to copy: for the two styles of the API, as a command and for both SDKs. The key stands in it as its first
// characters alone, so that a person knows which one belongs there.

import type { ModelKind } from "./model-kind.ts";

/** The two styles of the API; only chat models have both. */
export const STYLES = ["chat", "messages"] as const;
/** One of them. */
export type Style = (typeof STYLES)[number];

/** What code can be written in. */
export const LANGUAGES_OF_CODE = ["curl", "python", "typescript"] as const;
/** One of them. */
export type CodeLanguage = (typeof LANGUAGES_OF_CODE)[number];

/** What the code is for. */
export interface Snippet {
  /** This host, such as `https://gateway.example`. */
  readonly origin: string;
  readonly model: string;
  readonly kind: ModelKind;
  readonly style: Style;
  readonly language: CodeLanguage;
  /** What stands in the place of the key, see `keyHint`. */
  readonly key: string;
}

const SHOWN_CHARACTERS = 7;

/** Returns what a snippet shows of a key: its beginning, by which a person finds it among theirs. */
export const keyHint = (key: string | null): string => `${(key ?? "sk-").slice(0, SHOWN_CHARACTERS)}...`;

/** One request: its path and its body. */
interface Request {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The method of the chat SDK, which is the same in both languages; null where it has none. */
  readonly method: string | null;
  /** What the SDK's answer has, in both languages. */
  readonly result: string;
}

const TEXT = "Say hello in one word.";

const REQUESTS: Readonly<Record<Exclude<ModelKind, "transcription" | "other">, Request>> = {
  chat: {
    path: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: TEXT }] },
    method: "chat.completions.create",
    result: "choices[0].message.content",
  },
  embeddings: {
    path: "/v1/embeddings",
    body: { input: TEXT },
    method: "embeddings.create",
    result: "data[0].embedding",
  },
  images: {
    path: "/v1/images/generations",
    body: { prompt: "A tree in the fog", n: 1 },
    method: "images.generate",
    result: "data[0]",
  },
  speech: {
    path: "/v1/audio/speech",
    body: { input: TEXT, voice: "alloy" },
    method: "audio.speech.create",
    result: "content",
  },
  rerank: {
    path: "/v1/rerank",
    body: { query: "tall trees", documents: ["Redwoods grow to 115 m.", "Moss grows on stones."] },
    method: null,
    result: "results",
  },
};

/** Kinds that code is offered for, and those of them that the SDKs know. */
export const hasCode = (kind: ModelKind): kind is keyof typeof REQUESTS => Object.hasOwn(REQUESTS, kind);
const hasSdk = (kind: keyof typeof REQUESTS): boolean => REQUESTS[kind].method !== null;

/** The languages in which a model of this kind is asked. */
export const languagesFor = (kind: ModelKind): readonly CodeLanguage[] =>
  hasCode(kind) && hasSdk(kind) ? LANGUAGES_OF_CODE : ["curl"];

/** Returns the code; an empty text for a kind without. */
export function snippetOf(wanted: Snippet): string {
  if (!hasCode(wanted.kind)) return "";
  if (wanted.kind === "chat" && wanted.style === "messages") return messagesSnippet(wanted);
  const { origin, model, key, language } = wanted;
  const { path, body, method, result } = REQUESTS[wanted.kind];
  const asked = { model, ...body };
  switch (language) {
    case "curl":
      return curl(`${origin}${path}`, [`Authorization: Bearer ${key}`], asked);
    case "python":
      return [
        "from openai import OpenAI",
        "",
        `client = OpenAI(base_url="${origin}/v1", api_key="${key}")`,
        `answer = client.${method}(`,
        ...pythonArguments(asked),
        ")",
        `print(answer.${result})`,
      ].join("\n");
    case "typescript":
      return [
        `import OpenAI from "openai";`,
        "",
        `const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: "${key}" });`,
        `const answer = await client.${method}(${objectText(asked)});`,
        // A sound is a response with bytes there, and a content in Python.
        wanted.kind === "speech" ? "await answer.arrayBuffer();" : `console.log(answer.${result});`,
      ].join("\n");
  }
}

function messagesSnippet({ origin, model, key, language }: Snippet): string {
  const asked = { model, max_tokens: 256, messages: [{ role: "user", content: TEXT }] };
  switch (language) {
    case "curl":
      return curl(`${origin}/v1/messages`, [`x-api-key: ${key}`, "anthropic-version: 2023-06-01"], asked);
    case "python":
      return [
        "from anthropic import Anthropic",
        "",
        `client = Anthropic(base_url="${origin}", api_key="${key}")`,
        "answer = client.messages.create(",
        ...pythonArguments(asked),
        ")",
        "print(answer.content[0].text)",
      ].join("\n");
    case "typescript":
      return [
        `import Anthropic from "@anthropic-ai/sdk";`,
        "",
        `const client = new Anthropic({ baseURL: "${origin}", apiKey: "${key}" });`,
        `const answer = await client.messages.create(${objectText(asked)});`,
        "console.log(answer.content);",
      ].join("\n");
  }
}

/** Quotes a text as one word of a POSIX shell. */
const word = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const curl = (address: string, headers: readonly string[], body: object): string =>
  [
    `curl ${word(address)}`,
    ...[...headers, "Content-Type: application/json"].map((header) => `-H ${word(header)}`),
    `-d ${word(JSON.stringify(body))}`,
  ].join(" \\\n  ");

/** JSON is the same in both languages for texts, numbers, lists and objects. */
const pythonArguments = (body: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(body).map(([name, value]) => `    ${name}=${JSON.stringify(value)},`);

const objectText = (body: Readonly<Record<string, unknown>>): string =>
  `{\n${Object.entries(body)
    .map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`)
    .join("\n")}\n}`;
