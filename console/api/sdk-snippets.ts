// Code that makes a first request with either SDK, for this host, a key and a model. A text that people copy: nothing here runs.

/** The SDKs whose styles the service speaks. */
export const SDKS = ["openai", "anthropic"] as const;

/** One of them. */
export type Sdk = (typeof SDKS)[number];

/** What stands in the code. */
export interface SnippetFacts {
  /** The service's own address, such as `https://gateway.example`. */
  readonly origin: string;
  readonly key: string;
  readonly model: string;
}

/** Quotes a text as a string of Python; JSON's escapes are a part of Python's. */
const quoted = (text: string): string => JSON.stringify(text);

/** Returns a short program in Python that asks a model through the SDK. */
export function sdkSnippet(sdk: Sdk, { origin, key, model }: SnippetFacts): string {
  if (sdk === "openai") {
    return [
      "from openai import OpenAI",
      "",
      `client = OpenAI(api_key=${quoted(key)}, base_url=${quoted(`${origin}/v1`)})`,
      "answer = client.chat.completions.create(",
      `    model=${quoted(model)},`,
      '    messages=[{"role": "user", "content": "Say hello."}],',
      ")",
      "print(answer.choices[0].message.content)",
    ].join("\n");
  }
  return [
    "from anthropic import Anthropic",
    "",
    `client = Anthropic(api_key=${quoted(key)}, base_url=${quoted(origin)})`,
    "answer = client.messages.create(",
    `    model=${quoted(model)},`,
    "    max_tokens=200,",
    '    messages=[{"role": "user", "content": "Say hello."}],',
    ")",
    "print(answer.content[0].text)",
  ].join("\n");
}
