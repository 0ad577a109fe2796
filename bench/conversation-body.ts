// Bodies of an agent's request late in a long session, in each style that agents use: a system prompt and tools with cache
// marks, then turn after turn a thought, a call of a tool and its result. Made from a seed, so that every run has the same.

import { STYLES } from "./styles.ts";

export type ConversationStyle = "chat" | "messages" | "responses";

interface ConversationPlan {
  readonly turns: number;
  readonly tools: number;
  /** The least size of the body in bytes. */
  readonly bytes: number;
}

export const CONVERSATION_STYLES: Readonly<
  Record<
    ConversationStyle,
    { readonly path: string; headers(key: string): Readonly<Record<string, string>>; body: Builder }
  >
> = {
  chat: { ...STYLES.chat, body: chatBody },
  messages: { ...STYLES.messages, body: messagesBody },
  responses: { ...STYLES.chat, path: "/v1/responses", body: responsesBody },
};

/** What happens in a turn. */
interface Turn {
  readonly nth: number;
  readonly thought: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

type Builder = (turns: readonly Turn[], tools: readonly Tool[]) => object;

const MARK = { cache_control: { type: "ephemeral" } };
const SYSTEM =
  "You are an agent that works in a repository. Read before you write – and test what you change. ";
const TASK = "Find out why the orders of last week were counted twice, and repair it.";

/** Returns the JSON of a request of at least `bytes` bytes. */
export function conversationText(
  style: ConversationStyle,
  { turns, tools, bytes }: ConversationPlan,
): string {
  const random = seeded(7);
  const declared = Array.from({ length: tools }, (_, nth) => toolOf(nth, random));
  const { body } = CONVERSATION_STYLES[style];
  const bare = Buffer.byteLength(JSON.stringify(body(turnsOf(turns, 0, declared, random), declared)));
  // Escapes of line ends and quotes add a twentieth.
  const resultChars = Math.ceil(Math.max(0, bytes - bare) / turns);
  return JSON.stringify(body(turnsOf(turns, resultChars, declared, random), declared));
}

const turnsOf = (
  count: number,
  resultChars: number,
  tools: readonly Tool[],
  random: () => number,
): readonly Turn[] =>
  Array.from({ length: count }, (_, nth) => ({
    nth,
    thought: `I look at step ${nth} → the file that the last result names. ${words(random, 30)}`,
    tool: tools[Math.floor(random() * tools.length)]!.name,
    input: { path: `src/orders/part-${nth}.ts`, from: nth, to: nth + 80, note: words(random, 8) },
    result: sourceCode(resultChars, random),
  }));

function chatBody(turns: readonly Turn[], tools: readonly Tool[]): object {
  return {
    model: "gpt-4o-mini",
    messages: [
      { role: "system", content: [{ type: "text", text: SYSTEM.repeat(40), ...MARK }] },
      { role: "user", content: TASK },
      ...turns.flatMap(({ nth, thought, tool, input, result }) => [
        {
          role: "assistant",
          content: thought,
          tool_calls: [
            {
              id: `call_${nth}`,
              type: "function",
              function: { name: tool, arguments: JSON.stringify(input) },
            },
          ],
        },
        { role: "tool", tool_call_id: `call_${nth}`, content: result },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      function: { name, description, parameters: schema },
    })),
    max_tokens: 256,
  };
}

function messagesBody(turns: readonly Turn[], tools: readonly Tool[]): object {
  return {
    model: "claude-haiku-4-5",
    system: [{ type: "text", text: SYSTEM.repeat(40), ...MARK }],
    messages: [
      { role: "user", content: TASK },
      ...turns.flatMap(({ nth, thought, tool, input, result }) => [
        {
          role: "assistant",
          content: [
            { type: "text", text: thought },
            { type: "tool_use", id: `toolu_${nth}`, name: tool, input },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: `toolu_${nth}`,
              content: [{ type: "text", text: result }],
              ...(nth === turns.length - 1 && MARK),
            },
          ],
        },
      ]),
    ],
    tools: tools.map(({ name, description, schema }, nth) => ({
      name,
      description,
      input_schema: schema,
      ...(nth === tools.length - 1 && MARK),
    })),
    max_tokens: 256,
    metadata: { user_id: "agent-1" },
  };
}

function responsesBody(turns: readonly Turn[], tools: readonly Tool[]): object {
  return {
    model: "gpt-4o-mini",
    instructions: SYSTEM.repeat(40),
    input: [
      { type: "message", role: "user", content: [{ type: "input_text", text: TASK }] },
      ...turns.flatMap(({ nth, thought, tool, input, result }) => [
        { type: "message", role: "assistant", content: [{ type: "output_text", text: thought }] },
        { type: "function_call", call_id: `call_${nth}`, name: tool, arguments: JSON.stringify(input) },
        { type: "function_call_output", call_id: `call_${nth}`, output: result },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: "function",
      name,
      description,
      parameters: schema,
      strict: false,
    })),
    max_output_tokens: 256,
    store: false,
    prompt_cache_key: "agent-1",
  };
}

const PROPERTIES = ["path", "query", "from", "to", "pattern", "recursive"];

function toolOf(nth: number, random: () => number): Tool {
  const properties = Object.fromEntries(
    PROPERTIES.map((name) => [name, { type: "string", description: words(random, 12) }]),
  );
  const schema = { type: "object", properties, required: ["path"], additionalProperties: false };
  return { name: `server_${nth % 12}__tool_${nth}`, description: words(random, 40), schema };
}

const WORDS = (
  "the order count of a week reads files again when its cache was cleared before and each line has an id that the " +
  "importer writes twice if two workers take one batch so look there first then add a unique index and run all tests"
).split(" ");

const words = (random: () => number, count: number): string =>
  Array.from({ length: count }, () => WORDS[Math.floor(random() * WORDS.length)]).join(" ");

/** Lines as tools print them: indented, with quotes, and here and there a character outside of ASCII. */
function sourceCode(chars: number, random: () => number): string {
  let text = "";
  for (let line = 1; text.length < chars; line++) {
    const indent = "  ".repeat(Math.floor(random() * 4));
    const end = line % 20 === 0 ? " // siehe Prüfung – „später“" : "";
    text += `${String(line).padStart(5)}\t${indent}const found = await read("${words(random, 4)}");${end}\n`;
  }
  return text.slice(0, chars);
}

/** Numbers from 0 to 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
