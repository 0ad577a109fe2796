// The chat dialect, whole: what a request asks for, the body that goes to the provider, and what an answer holds.
// Pure. Never judges prices or limits, and changes nothing that it does not have to: unknown fields pass both ways.

export type Json = Record<string, unknown>;

/** What the gateway must know of a request; everything else stays in `body`. */
export interface ChatRequest {
  readonly body: Json;
  readonly model: string;
  readonly stream: boolean;
  readonly n: number;
  /** The client's output limit for one choice; null without one. */
  readonly maxOutput: number | null;
  /** Whether the client asked for the usage chunk. */
  readonly includeUsage: boolean;
  /** UTF-8 bytes of all text that the model will read: messages, tools, schemas. */
  readonly promptBytes: number;
  readonly images: number;
  /** Attached files, audio included. */
  readonly files: number;
  readonly serviceTier: string | null;
}

/** Why a request is refused: the field, and the rule that it breaks. */
export interface ChatRefusal {
  readonly code: "missing_parameter" | "invalid_parameter";
  readonly field: string;
  readonly message: string;
}

export type ChatParse =
  | { readonly ok: true; readonly request: ChatRequest }
  | { readonly ok: false; readonly refusal: ChatRefusal };

interface FieldRule {
  readonly field: string;
  readonly rule: string;
  readonly holds: (value: unknown) => boolean;
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isName = (value: unknown): boolean =>
  typeof value === "string" && value.trim() !== "" && value.length <= 256;
const isPositive = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const hasRole = (value: unknown): boolean =>
  isObject(value) && typeof value.role === "string" && value.role !== "";

const REQUIRED: readonly FieldRule[] = [
  { field: "model", rule: "must be a non-empty string of at most 256 characters", holds: isName },
  {
    field: "messages",
    rule: "must be a non-empty array of objects with a string role",
    holds: (v) => Array.isArray(v) && v.length > 0 && v.every(hasRole),
  },
];

/** Checked when present and not null. The last three would change the price, or the answer's time, unseen. */
const OPTIONAL: readonly FieldRule[] = [
  { field: "stream", rule: "must be true or false", holds: (v) => typeof v === "boolean" },
  { field: "stream_options", rule: "must be an object", holds: isObject },
  {
    field: "n",
    rule: "must be an integer from 1 to 128",
    holds: (v) => isPositive(v) && (v as number) <= 128,
  },
  { field: "max_tokens", rule: "must be a positive integer", holds: isPositive },
  { field: "max_completion_tokens", rule: "must be a positive integer", holds: isPositive },
  { field: "service_tier", rule: "must be a string", holds: (v) => typeof v === "string" },
  { field: "speed", rule: 'must not be "fast": it is not offered here', holds: (v) => v !== "fast" },
  { field: "inference_geo", rule: "is not offered here", holds: () => false },
  { field: "background", rule: "must not be true: it is not offered here", holds: (v) => v !== true },
];

/** Reads a request, or says which field breaks which rule. The body's depth is bounded by the HTTP layer. */
export function parseChatRequest(body: unknown): ChatParse {
  if (!isObject(body)) return refuse("invalid_parameter", "body", "must be a JSON object");
  for (const { field, rule, holds } of REQUIRED) {
    if (body[field] === undefined) return refuse("missing_parameter", field, "is required");
    if (!holds(body[field])) return refuse("invalid_parameter", field, rule);
  }
  for (const { field, rule, holds } of OPTIONAL) {
    const value = body[field];
    if (value !== undefined && value !== null && !holds(value))
      return refuse("invalid_parameter", field, rule);
  }
  const limits = [body.max_tokens, body.max_completion_tokens].filter((v) => typeof v === "number");
  const weight = { bytes: 0, images: 0, files: 0 };
  weigh(body.messages, weight, true);
  for (const field of READ_BESIDE) weigh(body[field], weight, false);
  return {
    ok: true,
    request: {
      body,
      model: body.model as string,
      stream: body.stream === true,
      n: typeof body.n === "number" ? body.n : 1,
      maxOutput: limits.length === 0 ? null : Math.max(...limits),
      includeUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
      promptBytes: weight.bytes,
      images: weight.images,
      files: weight.files,
      serviceTier: typeof body.service_tier === "string" ? body.service_tier : null,
    },
  };
}

const refuse = (code: ChatRefusal["code"], field: string, rule: string): ChatParse => ({
  ok: false,
  refusal: { code, field, message: `${field} ${rule}` },
});

/** What the model reads beside the messages. A JSON schema in there may say {type: "file"} and is text all the same. */
const READ_BESIDE = ["tools", "functions", "response_format", "prediction", "tool_choice"] as const;

/** Parts of messages whose weight is not their text. */
const HEAVY: ReadonlyMap<unknown, "images" | "files"> = new Map([
  ["image_url", "images"],
  ["image", "images"],
  ["input_image", "images"],
  ["input_audio", "files"],
  ["audio", "files"],
  ["video_url", "files"],
  ["file", "files"],
  ["input_file", "files"],
  ["document", "files"],
]);

/** For the marks that a provider puts around a message or a field. */
const FRAME_BYTES = 4;

interface Weight {
  bytes: number;
  images: number;
  files: number;
}

function weigh(value: unknown, sum: Weight, parts: boolean): void {
  if (typeof value === "string") {
    sum.bytes += Buffer.byteLength(value);
  } else if (typeof value === "number" || typeof value === "boolean") {
    sum.bytes += FRAME_BYTES;
  } else if (Array.isArray(value)) {
    for (const item of value) weigh(item, sum, parts);
  } else if (isObject(value)) {
    const heavy = parts ? HEAVY.get(value.type) : undefined;
    if (heavy !== undefined) {
      sum[heavy]++;
      return;
    }
    for (const key of Object.keys(value)) {
      sum.bytes += key.length + FRAME_BYTES;
      weigh(value[key], sum, parts);
    }
  }
}

/** All text that the model reads, for counting a prompt whose usage nobody gave. Payloads of images and files are left out. */
export function promptTexts(body: Json): string[] {
  const texts: string[] = [];
  gather(body.messages, texts, true);
  for (const field of READ_BESIDE) gather(body[field], texts, false);
  return texts;
}

function gather(value: unknown, into: string[], parts: boolean): void {
  if (typeof value === "string") {
    if (value !== "") into.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) gather(item, into, parts);
  } else if (isObject(value) && !(parts && HEAVY.has(value.type))) {
    for (const key of Object.keys(value)) {
      // A schema's field names are read too; those of a message are the provider's framing.
      if (!parts) into.push(key);
      gather(value[key], into, parts);
    }
  }
}

/**
 * The body for the provider: another model, and the usage chunk asked of every stream. It is always written anew, so that a
 * field named twice cannot mean one thing to us and another to the provider.
 */
export function upstreamBody(body: Json, change: { readonly model: string }): string {
  const sent: Json = { ...body, model: change.model };
  if (body.stream === true) {
    const options = isObject(body.stream_options) ? body.stream_options : {};
    sent.stream_options = { ...options, include_usage: true };
  }
  return JSON.stringify(sent);
}

/** A whole answer, or the name of the signal it means instead; `classify` then says the rest from the same text. */
export type ChatAnswer =
  | {
      readonly ok: true;
      readonly body: Json;
      /** The provider's usage as it came; null without one. */
      readonly usage: unknown;
      readonly serviceTier: string | null;
      readonly finishReasons: readonly string[];
      /** All that was generated, for counting when there is no usage. */
      readonly texts: readonly string[];
    }
  | { readonly ok: false; readonly fault: "error_body" | "server_error" };

/** Reads a whole answer. */
export function readChatAnswer(bodyText: string): ChatAnswer {
  const body = parseJson(bodyText);
  if (body === undefined) return { ok: false, fault: "server_error" };
  if (!isObject(body) || isErrorBody(body) || !Array.isArray(body.choices))
    return { ok: false, fault: "error_body" };
  const texts: string[] = [];
  const finishReasons: string[] = [];
  for (const choice of body.choices as unknown[]) {
    if (!isObject(choice)) continue;
    if (typeof choice.finish_reason === "string") finishReasons.push(choice.finish_reason);
    if (typeof choice.text === "string") texts.push(choice.text);
    if (isObject(choice.message)) collectTexts(choice.message, texts);
  }
  return {
    ok: true,
    body,
    usage: body.usage ?? null,
    serviceTier: typeof body.service_tier === "string" ? body.service_tier : null,
    finishReasons,
    texts: texts.filter((text) => text !== ""),
  };
}

/** The text for the client: as it came, but for a fingerprint where the provider gave none. */
export function withFingerprint(bodyText: string, body: Json, fingerprint: string | null): string {
  if (fingerprint === null || (body.system_fingerprint ?? null) !== null) return bodyText;
  if ("system_fingerprint" in body) return JSON.stringify({ ...body, system_fingerprint: fingerprint });
  const brace = bodyText.indexOf("{") + 1;
  const comma = Object.keys(body).length === 0 ? "" : ",";
  return `${bodyText.slice(0, brace)}"system_fingerprint":${JSON.stringify(fingerprint)}${comma}${bodyText.slice(brace)}`;
}

/** Whether a body that came with a 200 is an error all the same. */
export function isErrorBody(body: Json): boolean {
  if (body.error) return true;
  if (isObject(body.base_resp) && body.base_resp.status_code !== 0) return true;
  return body.choices === undefined && body.code !== undefined && (body.msg ?? body.message) !== undefined;
}

/** Adds all text of a message or a delta: content, refusal, reasoning, and the names and arguments of calls. */
export function collectTexts(message: Json, into: string[]): void {
  add(message.content, into);
  add(message.refusal, into);
  // Some hosts send the same reasoning under both names: one of them counts.
  add(message.reasoning_content || message.reasoning, into);
  if (isObject(message.function_call)) addCall(message.function_call, into);
  if (isObject(message.audio)) add(message.audio.transcript, into);
  if (!Array.isArray(message.tool_calls)) return;
  for (const call of message.tool_calls as unknown[]) {
    if (!isObject(call)) continue;
    if (isObject(call.function)) addCall(call.function, into);
    if (isObject(call.custom)) addCall(call.custom, into);
  }
}

function addCall(call: Json, into: string[]): void {
  add(call.name, into);
  add(call.arguments ?? call.input, into);
}

/** A string, or parts that carry it under `text`, `refusal` or `thinking`, at any depth. */
function add(value: unknown, into: string[]): void {
  if (typeof value === "string") {
    if (value !== "") into.push(value);
  } else if (Array.isArray(value)) {
    for (const part of value) add(part, into);
  } else if (isObject(value)) {
    add(value.text ?? value.refusal ?? value.thinking, into);
  }
}

/** The parsed JSON; undefined when the text is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
