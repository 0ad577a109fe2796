// What the messages dialect demands of a request, as its provider does: a rule each, and the words of its breach.
// Strict on purpose: a translation that a real provider would refuse is refused here.

import { isAltered } from "./message.ts";
import type { Headers } from "./wire.ts";

export interface MessagesBody {
  readonly model?: unknown;
  readonly system?: unknown;
  readonly messages?: unknown;
  readonly max_tokens?: unknown;
  readonly stream?: unknown;
  readonly tools?: unknown;
  readonly tool_choice?: { readonly type?: unknown } | null;
  readonly output_config?: { readonly format?: unknown } | null;
  readonly temperature?: unknown;
  readonly top_p?: unknown;
  readonly top_k?: unknown;
}

export interface Block {
  readonly type?: unknown;
  readonly text?: unknown;
  readonly id?: unknown;
  readonly input?: unknown;
  readonly tool_use_id?: unknown;
  readonly thinking?: unknown;
  readonly signature?: unknown;
  readonly source?: unknown;
}

/** A message whose content is a list of blocks. */
interface Turn {
  readonly role?: unknown;
  readonly blocks: readonly Block[];
}

/** Null when it holds. */
type Rule = (body: MessagesBody, headers: Headers) => string | null;

const said = (breach: boolean, words: string): string | null => (breach ? words : null);

const HEADER_RULES: readonly Rule[] = [
  (_, headers) => said((headers["anthropic-version"] ?? "") === "", "anthropic-version: header is required"),
  ({ model }) => said(typeof model !== "string" || model === "", "model: Field required"),
  ({ messages }) => said(!Array.isArray(messages), "messages: Field required"),
  ({ messages }) => said((messages as unknown[]).length === 0, "messages: at least one message is required"),
  (body, headers) => {
    if (headers["anthropic-version"] !== "2026-10-21") return null;
    const sampling = (["temperature", "top_p", "top_k"] as const).find((name) => body[name] !== undefined);
    return said(sampling !== undefined, `${sampling}: Extra inputs are not permitted`);
  },
];

const LIMIT_RULE: Rule = ({ max_tokens }) =>
  max_tokens === undefined
    ? "max_tokens: Field required"
    : said(
        !Number.isSafeInteger(max_tokens) || (max_tokens as number) < 0,
        "max_tokens: Input should be a valid integer greater than or equal to 0",
      );

const MARKS_MAX = 4;
const STRICT_TOOLS_MAX = 20;

const PROMPT_RULES: readonly Rule[] = [
  ({ tools, system, messages }) => {
    const found = JSON.stringify([tools, system, messages]).split('"cache_control":{').length - 1;
    return said(
      found > MARKS_MAX,
      `A maximum of ${MARKS_MAX} blocks with cache_control may be provided. Found ${found}.`,
    );
  },
  ({ tools }) => {
    const found = Array.isArray(tools)
      ? tools.filter((tool) => isObject(tool) && tool.strict === true).length
      : 0;
    return said(
      found > STRICT_TOOLS_MAX,
      `tools: Too many strict tools (${found}). The maximum number of strict tools supported is ${STRICT_TOOLS_MAX}.`,
    );
  },
];

const ROLES: readonly unknown[] = ["user", "assistant", "system"];

/** Each looks at one turn between its neighbours. */
const TURN_RULES: readonly ((turn: Turn, next: Turn | undefined, last: Turn | undefined) => string | null)[] =
  [
    ({ role }) =>
      said(!ROLES.includes(role), `role: Input should be 'user' or 'assistant', not '${String(role)}'`),
    ({ blocks }) =>
      said(
        blocks.some(({ type, text }) => type === "text" && (typeof text !== "string" || text === "")),
        "text content blocks must be non-empty",
      ),
    ({ blocks }) =>
      said(
        blocks.some(({ type, id }) => type === "tool_use" && !/^[a-zA-Z0-9_-]+$/.test(String(id))),
        "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
      ),
    ({ blocks }) =>
      said(
        blocks.some(({ type, input }) => type === "tool_use" && !isObject(input)),
        "tool_use.input: Input should be a valid dictionary",
      ),
    ({ blocks }) =>
      said(
        blocks.some(({ type, signature }) => type === "thinking" && (signature ?? "") === ""),
        "thinking.signature: Field required",
      ),
    ({ blocks }) =>
      said(
        blocks.some(
          ({ type, thinking, signature }, place) =>
            type === "thinking" && isAltered(thinking, signature, place),
        ),
        "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified",
      ),
    ({ role, blocks }) =>
      said(
        role === "assistant" && blocks.at(-1)?.type === "thinking",
        "The final block in an assistant message cannot be `thinking`",
      ),
    ({ blocks }) =>
      said(
        blocks.some(({ type, source }) => type === "image" && !isImageSource(source)),
        "image.source: Input should be a base64 image (jpeg, png, gif, webp), a URL or a file",
      ),
    ({ blocks }, next) =>
      said(
        missing(uses(blocks), results(next?.blocks ?? [])),
        "`tool_use` ids were found without `tool_result` blocks immediately after",
      ),
    ({ blocks }, _, last) =>
      said(
        missing(results(blocks), uses(last?.blocks ?? [])),
        "unexpected `tool_use_id` found in `tool_result` blocks: no corresponding `tool_use` in the previous message",
      ),
  ];

const IMAGE_TYPES: readonly unknown[] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

const isImageSource = (source: unknown): boolean =>
  isObject(source) &&
  ((source.type === "base64" && IMAGE_TYPES.includes(source.media_type) && isBase64(source.data)) ||
    (source.type === "url" && typeof source.url === "string") ||
    (source.type === "file" && typeof source.file_id === "string"));

const isBase64 = (data: unknown): boolean => typeof data === "string" && /^[A-Za-z0-9+/]+={0,2}$/.test(data);

/** The first rule that a request breaks, in its words; null when it keeps them all. */
export function brokenRule(body: MessagesBody, headers: Headers, limited: boolean): string | null {
  for (const rule of [...HEADER_RULES, ...(limited ? [LIMIT_RULE] : []), ...PROMPT_RULES]) {
    const words = rule(body, headers);
    if (words !== null) return words;
  }
  const turns = turnsOf(body.messages as readonly unknown[]);
  for (const [nth, turn] of turns.entries()) {
    for (const rule of TURN_RULES) {
      const words = rule(turn, turns[nth + 1], turns[nth - 1]);
      if (words !== null) return `messages.${nth}: ${words}`;
    }
  }
  return null;
}

/** Messages as turns: those of one role that follow each other are one. */
function turnsOf(messages: readonly unknown[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const { role, content } = isObject(message) ? message : { role: undefined, content: undefined };
    const blocks = blocksOf(content);
    const last = turns.at(-1);
    if (last !== undefined && last.role === role)
      turns[turns.length - 1] = { role, blocks: [...last.blocks, ...blocks] };
    else turns.push({ role, blocks });
  }
  return turns;
}

export function blocksOf(content: unknown): Block[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

const idsOf = (blocks: readonly Block[], type: string, field: "id" | "tool_use_id"): unknown[] =>
  blocks.filter((block) => block.type === type).map((block) => block[field]);

const uses = (blocks: readonly Block[]) => idsOf(blocks, "tool_use", "id");
const results = (blocks: readonly Block[]) => idsOf(blocks, "tool_result", "tool_use_id");
const missing = (ids: readonly unknown[], among: readonly unknown[]) => ids.some((id) => !among.includes(id));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
