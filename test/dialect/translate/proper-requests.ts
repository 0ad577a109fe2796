// What providers demand of a request, whichever code wrote it: each function gives the rules that a body breaks, none for a good
// one. Written from the providers' side, without a look at how a translation goes about it.

import { isObject, type Json, parseJson } from "../../../src/dialect/json.ts";

type Broken = (rule: string) => void;

const isBlank = (value: unknown): boolean => typeof value !== "string" || value.trim() === "";
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

const MARKS_MAX = 4;

/** The rules of the messages dialect that a request breaks. */
export function improperMessages(body: Json): readonly string[] {
  const found: string[] = [];
  const broken: Broken = (rule) => found.push(rule);
  const messages = listOf(body.messages);
  if (messages.length === 0) broken("no messages");
  if (messages[0]?.role !== "user") broken("the first message is not the user's");
  const ids = new Set<string>();
  for (const [i, message] of messages.entries()) {
    const [before, after] = [messages[i - 1], messages[i + 1]];
    const blocks = blocksOf(message.content);
    if (blocks.length === 0) broken(`message ${i} is empty`);
    for (const block of blocks) checkBlock(block, broken);
    switch (message.role) {
      case "user":
        if (before?.role === "user" || before?.role === "system") broken("user after no assistant");
        checkResults(blocks, callIds(before), broken);
        break;
      case "assistant":
        if (before?.role === "assistant") broken("assistant after assistant");
        if (blocks.some(({ type }) => type === "tool_result")) broken("the assistant has a result");
        for (const id of callIds(message)) {
          if (ids.has(id)) broken(`call ${id} twice`);
          ids.add(id);
        }
        if (callIds(message).length > 0 && after?.role !== "user") broken("a call without an answer");
        if (after === undefined && /\s$/.test(String(blocks.at(-1)?.text))) broken("white space at the end");
        break;
      case "system":
        if (before?.role !== "user") broken("a system message not after the user's");
        if (blocks.some(({ type }) => type !== "text")) broken("a system message of more than text");
        break;
      default:
        broken(`role ${String(message.role)}`);
    }
  }
  for (const block of listOf(body.system)) checkBlock(block, broken);
  const marks = JSON.stringify([body.tools, body.system, messages]).split('"cache_control":{').length - 1;
  if (marks > MARKS_MAX) broken(`${marks} marks of the cache`);
  checkMessagesFields(body, broken);
  return found;
}

const blocksOf = (content: unknown): readonly Json[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : listOf(content);

const callIds = (message: Json | undefined): readonly string[] =>
  message?.role !== "assistant"
    ? []
    : blocksOf(message.content)
        .filter(({ type }) => type === "tool_use")
        .map(({ id }) => String(id));

function checkResults(blocks: readonly Json[], calls: readonly string[], broken: Broken): void {
  const leading = blocks.findIndex(({ type }) => type !== "tool_result");
  const results = blocks.slice(0, leading < 0 ? blocks.length : leading);
  if (blocks.slice(results.length).some(({ type }) => type === "tool_result")) broken("a result not first");
  const answered = results.map((block) => String(block.tool_use_id)).sort();
  if (JSON.stringify(answered) !== JSON.stringify([...calls].sort())) broken("results and calls differ");
  for (const result of results) {
    if (result.content === undefined) continue;
    const inner = blocksOf(result.content);
    if (inner.length === 0) broken("a result's content is empty");
    for (const block of inner) checkBlock(block, broken);
  }
}

function checkBlock(block: Json, broken: Broken): void {
  switch (block.type) {
    case "text":
      if (isBlank(block.text)) broken("a blank text");
      break;
    case "tool_use":
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(block.id))) broken(`id ${String(block.id)}`);
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(block.name))) broken(`name ${String(block.name)}`);
      if (!isObject(block.input)) broken("an input that is no object");
      break;
    case "thinking":
      if (isBlank(block.signature)) broken("thinking without a signature");
      break;
    case "image":
    case "document": {
      const source = isObject(block.source) ? block.source : {};
      const image = /^image\/(?:jpeg|png|gif|webp)$/.test(String(source.media_type));
      const good =
        source.type === "url"
          ? /^https?:/i.test(String(source.url))
          : source.type === "base64" && !isBlank(source.data) && (image || block.type === "document");
      if (!good) broken(`a source that is none: ${JSON.stringify(source)}`);
      break;
    }
    case "tool_result":
    case "redacted_thinking":
      break;
    default:
      broken(`block ${String(block.type)}`);
  }
}

function checkMessagesFields(body: Json, broken: Broken): void {
  const { max_tokens: limit, thinking, tool_choice: choice } = body;
  if (!Number.isSafeInteger(limit) || (limit as number) < 1) broken(`max_tokens ${String(limit)}`);
  if (listOf(body.stop_sequences).some((stop) => isBlank(stop))) broken("a blank stop sequence");
  for (const tool of listOf(body.tools)) {
    if (!isObject(tool.input_schema) || tool.input_schema.type !== "object")
      broken("a tool without a schema");
  }
  if (isObject(choice)) {
    if (listOf(body.tools).length === 0) broken("a choice without tools");
    if (choice.type === "tool" && !listOf(body.tools).some(({ name }) => name === choice.name)) {
      broken("a choice of no tool");
    }
  }
  if (!isObject(thinking)) return;
  if (isObject(choice) && (choice.type === "any" || choice.type === "tool"))
    broken("thinking and a forced tool");
  if (body.temperature !== undefined || body.top_p !== undefined) broken("thinking and sampling");
  const { budget_tokens: budget } = thinking;
  if (
    thinking.type === "enabled" &&
    !((budget as number) >= 1_024 && (budget as number) < (limit as number))
  ) {
    broken(`a budget of ${String(budget)} in ${String(limit)}`);
  }
}

/** The rules of the chat dialect that a request breaks. */
export function improperChat(body: Json): readonly string[] {
  const found: string[] = [];
  const broken: Broken = (rule) => found.push(rule);
  const messages = listOf(body.messages);
  if (messages.length === 0) broken("no messages");
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const index = open.indexOf(String(message.tool_call_id));
      if (index < 0) broken("a tool message without its call");
      else open.splice(index, 1);
      if (typeof message.content !== "string") broken("a tool message that is no text");
      continue;
    }
    if (open.length > 0) broken("calls without an answer");
    open = [];
    checkMessage(message, broken);
    for (const call of listOf(message.tool_calls)) open.push(checkCall(call, broken));
    if (new Set(open).size < open.length) broken("two calls of one id");
  }
  if (open.length > 0) broken("calls without an answer at the end");
  checkChatFields(body, broken);
  return found;
}

function checkMessage({ role, content, tool_calls }: Json, broken: Broken): void {
  switch (role) {
    case "system":
      if (typeof content !== "string" || content === "") broken("a system message without text");
      break;
    case "user":
      if (typeof content === "string" ? content === "" : listOf(content).length === 0)
        broken("an empty message");
      for (const part of listOf(content)) checkPart(part, broken);
      break;
    case "assistant":
      if (
        content === null ? listOf(tool_calls).length === 0 : typeof content !== "string" || content === ""
      ) {
        broken("an empty answer");
      }
      if (tool_calls !== undefined && listOf(tool_calls).length === 0) broken("no calls");
      break;
    default:
      broken(`role ${String(role)}`);
  }
}

function checkPart(part: Json, broken: Broken): void {
  const { text, image_url, file } = part;
  const good =
    (part.type === "text" && typeof text === "string" && text !== "") ||
    (part.type === "image_url" && isObject(image_url) && typeof image_url.url === "string") ||
    (part.type === "file" && isObject(file) && String(file.file_data).startsWith("data:"));
  if (!good) broken(`part ${JSON.stringify(part)}`);
}

function checkCall(call: Json, broken: Broken): string {
  const id = String(call.id);
  const made = isObject(call.function) ? call.function : {};
  if (id.length < 1 || id.length > 40) broken(`id ${id}`);
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(made.name))) broken(`name ${String(made.name)}`);
  if (typeof made.arguments !== "string" || !isObject(parseJson(made.arguments))) broken("arguments");
  return id;
}

function checkChatFields(body: Json, broken: Broken): void {
  const tools = listOf(body.tools);
  if (body.tools !== undefined && tools.length === 0) broken("an empty list of tools");
  if (tools.length === 0 && (body.tool_choice !== undefined || body.parallel_tool_calls !== undefined)) {
    broken("a choice without tools");
  }
  for (const tool of tools) {
    const made = isObject(tool.function) ? tool.function : {};
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(made.name))) broken(`tool ${String(made.name)}`);
    if (!isObject(made.parameters) || made.parameters.type !== "object") broken("a tool without a schema");
  }
  for (const limit of [body.max_tokens, body.max_completion_tokens]) {
    if (limit !== undefined && (!Number.isSafeInteger(limit) || (limit as number) < 1))
      broken("a limit of none");
  }
  if (body.stop !== undefined && (listOf(body.stop).length === 0 || listOf(body.stop).length > 4))
    broken("stop");
  if (body.stream_options !== undefined && body.stream !== true) broken("stream_options without a stream");
}
