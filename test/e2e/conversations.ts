// Conversations with a Level of several keys, and what the stand-in saw of them: which key each turn met, and whether that key
// had read the turns before it. Nothing here asserts.

import type { Provider } from "../provider/provider.ts";
import { type Account, type Bench, fresh, type Json, MODEL } from "./harness.ts";

type Style = "chat" | "messages" | "responses";
const STYLES: readonly Style[] = ["chat", "messages", "responses"];

const PATHS: Readonly<Record<Style, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

interface Said {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** A turn that was answered, as the stand-in saw it. */
export interface Turn {
  /** The last four characters of the secret. */
  readonly key: string;
  /** Its key had read all of the turn before. Undefined for the first turn. */
  readonly isHit?: boolean;
}

/** Conversations of one account, in all styles in turn unless one is given. */
export class Conversations {
  private readonly all: { readonly name: string; readonly style: Style; readonly said: Said[] }[];

  constructor(
    private readonly bench: Pick<Bench, "call"> & { readonly provider: Provider },
    private readonly user: Account,
    count: number,
    style?: Style,
  ) {
    this.all = Array.from({ length: count }, (_, nth) => {
      return { name: `conversation-${fresh()}-`, style: style ?? STYLES[nth % STYLES.length]!, said: [] };
    });
  }

  /** One more turn of each conversation, so many at a time. Throws where one is not answered. */
  async round(atOnce: number): Promise<void> {
    const left = this.all.values();
    const worker = async () => {
      for (const one of left) await this.turn(one);
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
  }

  /** The turns of each conversation so far. */
  turns(): Turn[][] {
    const calls = Map.groupBy(
      this.bench.provider.calls().filter(({ status }) => status === 200),
      ({ body }) => /conversation-\w+-/.exec(JSON.stringify(body))?.[0],
    );
    return this.all.map(({ name }) =>
      (calls.get(name) ?? []).map(({ key, usage }, nth, seen) => {
        const before = seen[nth - 1]?.usage?.prompt;
        return before === undefined ? { key } : { key, isHit: usage!.cached >= before };
      }),
    );
  }

  /** The keys of each conversation, turn by turn. */
  keys(): string[][] {
    return this.turns().map((turns) => turns.map(({ key }) => key));
  }

  /** The share of turns after the first whose key had read the turn before. */
  hitShare(): number {
    const later = this.turns().flatMap((turns) => turns.slice(1));
    return later.filter(({ isHit }) => isHit).length / later.length;
  }

  private async turn({ name, style, said }: (typeof this.all)[number]): Promise<void> {
    said.push({ role: "user", content: `${name} says ${said.length} [[prompt_cache output=3]]` });
    const turns = style === "responses" ? { input: said } : { messages: said };
    const body = { model: MODEL, ...turns, ...(style === "messages" ? { max_tokens: 50 } : {}) };
    const answer = await this.bench.call(this.user.key, "POST", PATHS[style], body);
    if (answer.status !== 200) throw new Error(`${style}: ${answer.status} ${answer.text}`);
    said.push({ role: "assistant", content: WORDS[style](answer.body) });
  }
}

const WORDS: Readonly<Record<Style, (body: Json) => string>> = {
  chat: (body) => body.choices[0].message.content,
  messages: (body) => body.content[0].text,
  responses: (body) => body.output.at(-1).content[0].text,
};
