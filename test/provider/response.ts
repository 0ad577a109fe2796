// The response object and the items of its output, begun and finished. What a stream says of them is in responses-stream.ts.

import type { Choice, ToolCall, Usage } from "./answer.ts";
import type { Serving } from "./dialect.ts";
import { reportedUsage } from "./reported-usage.ts";
import type { Script } from "./script.ts";

export interface OutputItem {
  readonly id: string;
  readonly type: string;
}

export interface ResponseBody {
  readonly status: string;
  readonly output: readonly OutputItem[];
}

/** How an answer ends, by its finish reason; all others are completed. */
const ENDS: Readonly<Record<string, { readonly status: string; readonly more?: object }>> = {
  length: { status: "incomplete", more: { incomplete_details: { reason: "max_output_tokens" } } },
  content_filter: { status: "incomplete", more: { incomplete_details: { reason: "content_filter" } } },
  failed: {
    status: "failed",
    more: { error: { code: "server_error", message: "The model failed to generate a response." } },
  },
};

const COMPLETED = { status: "completed" };

/** The whole response as it is when all has been said. */
export function finished(serving: Serving): ResponseBody {
  const choice = serving.answer.choices[0]!;
  const { status, more } = { more: {}, ...(ENDS[choice.finish] ?? COMPLETED) };
  return responseBody(serving, status, itemsOf(serving), {
    ...more,
    usage: usageOf(serving.answer.usage, serving.script, status === "failed"),
  });
}

/** A response in any state; `more` is what that state adds. */
export function responseBody(
  serving: Serving,
  status: string,
  output: readonly OutputItem[],
  more: object = {},
): ResponseBody {
  const { body, script, ask } = serving;
  return {
    id: serving.id,
    object: "response",
    created_at: serving.createdS,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: ask.limit,
    metadata: body.metadata ?? {},
    model: script.answered ?? ask.model,
    output,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    ...(body.conversation != null && { conversation: conversationOf(body.conversation) }),
    reasoning: body.reasoning ?? { effort: null, summary: null },
    service_tier: script.tier ?? "default",
    store: body.store ?? true,
    temperature: 1,
    text: body.text ?? { format: { type: "text" } },
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_p: 1,
    truncation: "disabled",
    usage: null,
    user: null,
    ...more,
  } as ResponseBody;
}

const conversationOf = (conversation: unknown) =>
  typeof conversation === "string" ? { id: conversation } : conversation;

/** A failed response says nothing of usage unless the script insists. */
function usageOf(usage: Usage, script: Script, failed: boolean): object | null {
  if (failed && script.usage !== "always") return null;
  return (
    reportedUsage(script, {
      input_tokens: usage.prompt,
      input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
      output_tokens: usage.completion,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.prompt + usage.completion,
    }) ?? null
  );
}

/** The items of the output, finished, in their order: thoughts, searches, the message, the calls of tools. */
export function itemsOf({ id, answer, script, ask, body }: Serving): OutputItem[] {
  const choice = answer.choices[0]!;
  const stem = id.replace("resp_", "");
  const status =
    choice.finish === "length" || choice.finish === "content_filter" ? "incomplete" : "completed";
  const searches = Array.from({ length: answer.usage.searches }, (_, nth) => ({
    id: `ws_${stem}_${nth}`,
    type: "web_search_call",
    status: "completed",
    action: { type: "search", query: ask.said },
  }));
  const executions = Array.from({ length: script.executions ?? 0 }, (_, nth) => ({
    id: `ci_${stem}_${nth}`,
    type: "code_interpreter_call",
    status: "completed",
    code: "1 + 1",
    container_id: `cntr_${stem}`,
    outputs: null,
  }));
  return [
    ...(answer.usage.reasoning > 0
      ? [reasoningItem(stem, choice, wantsEncrypted(body.include) ? encryptedFor(script) : null)]
      : []),
    ...searches,
    ...executions,
    ...(choice.toolCalls.length === 0 || choice.words.length > 0
      ? [messageItem(`msg_${stem}`, status, partOf(choice, script))]
      : []),
    ...choice.toolCalls.map((call, nth) =>
      isCustom(body.tools, call)
        ? customItem(`ctc_${stem}_${nth}`, call)
        : callItem(`fc_${stem}_${nth}`, call),
    ),
  ];
}

const wantsEncrypted = (include: unknown): boolean =>
  Array.isArray(include) && include.includes("reasoning.encrypted_content");

/** What the encrypted content of reasoning begins with. */
export const ENCRYPTED = "gAAAAA";
/** The encrypted content of reasoning, as the key's organization has it. */
export const encryptedFor = ({ organization = "standin" }: Script): string => ENCRYPTED + organization;

const reasoningItem = (stem: string, choice: Choice, encrypted: string | null) => ({
  id: `rs_${stem}`,
  type: "reasoning",
  summary:
    choice.thoughts.length > 0 ? [{ type: "summary_text", text: choice.thoughts.join("").trimStart() }] : [],
  ...(encrypted !== null && { encrypted_content: encrypted }),
});

export const messageItem = (id: string, status: string, part: object | null) => ({
  id,
  type: "message",
  status,
  role: "assistant",
  content: part === null ? [] : [part],
});

const callItem = (id: string, call: ToolCall) => ({
  id,
  type: "function_call",
  status: "completed",
  call_id: call.id,
  name: call.name,
  arguments: call.arguments,
});

const isCustom = (tools: unknown, { name }: ToolCall): boolean =>
  Array.isArray(tools) &&
  (tools as readonly { readonly type?: unknown; readonly name?: unknown }[]).some(
    (tool) => tool.type === "custom" && tool.name === name,
  );

/** The input of a call of a custom tool, which is free text. */
export const inputOf = ({ arguments: given }: ToolCall): string =>
  (JSON.parse(given) as { readonly input?: string }).input ?? given;

const customItem = (id: string, call: ToolCall) => ({
  id,
  type: "custom_tool_call",
  status: "completed",
  call_id: call.id,
  name: call.name,
  input: inputOf(call),
});

/** The one part of a message; `finish=refusal` makes it one. */
function partOf(choice: Choice, script: Script): object {
  const text = choice.words.join("").trimStart();
  return script.finish === "refusal"
    ? { type: "refusal", refusal: text }
    : { type: "output_text", text, annotations: [], logprobs: [] };
}
