// A provider's error in the words of the other dialect: one table of type, code and status, read both ways. Only errors
// about the request itself come here; what is wrong with a provider's key is never the client's to read.

/** What names an error; of its message only what the other dialect has a name for is read. */
export interface ErrorWords {
  readonly status: number;
  readonly message?: string;
  readonly type: string;
  /** Empty: none. */
  readonly code: string;
}

interface Row {
  readonly messages: string;
  readonly chat: string;
  /** The chat code that says it; null: the type alone does, and any code stays. */
  readonly code: string | null;
  readonly status: number;
  /** Statuses that say more than the row's, and stay. */
  readonly keeps: readonly number[];
}

const row = (
  messages: string,
  chat: string,
  code: string | null,
  status: number,
  keeps: readonly number[] = [],
): Row => ({ messages, chat, code, status, keeps });

const INVALID = row("invalid_request_error", "invalid_request_error", null, 400, [404, 409, 413, 422]);
const FAILED = row("api_error", "server_error", null, 500, [502]);

// Nobody is told 529, which is a provider's own: an overload is 503 in both worlds.
const ROWS: readonly Row[] = [
  INVALID,
  row("authentication_error", "authentication_error", "invalid_api_key", 401),
  row("billing_error", "insufficient_quota", "insufficient_quota", 402),
  row("permission_error", "permission_error", null, 403),
  row("not_found_error", "not_found_error", "model_not_found", 404),
  row("conflict_error", "invalid_request_error", "conflict", 409),
  row("request_too_large", "invalid_request_error", "request_too_large", 413),
  row("rate_limit_error", "rate_limit_error", "rate_limit_exceeded", 429),
  FAILED,
  row("timeout_error", "server_error", "timeout", 504),
  row("overloaded_error", "service_unavailable_error", "overloaded", 503),
];

/** Where a chat client knows a failure by another status: money that is gone is one of its limits. */
const CHAT_STATUS: ReadonlyMap<string, number> = new Map([["billing_error", 429]]);

/** Other names of the same. */
const CHAT_TYPES: readonly (readonly [string, string])[] = [
  ["tokens", "rate_limit_error"],
  ["requests", "rate_limit_error"],
];

const BY_MESSAGES = new Map(ROWS.map((one) => [one.messages, one]));
const BY_CODE = new Map(ROWS.flatMap((one) => (one.code === null ? [] : [[one.code, one] as const])));
/** The first row of a type speaks for it where there is no code. */
const BY_CHAT = new Map([
  ...ROWS.toReversed().map((one) => [one.chat, one] as const),
  ...CHAT_TYPES.map(([type, messages]) => [type, BY_MESSAGES.get(messages) ?? FAILED] as const),
]);
const BY_STATUS = new Map([
  ...ROWS.map((one) => [one.status, one] as const),
  [529, BY_MESSAGES.get("overloaded_error") ?? FAILED],
]);

const byStatus = (status: number): Row =>
  BY_STATUS.get(status) ?? (status >= 400 && status < 500 ? INVALID : FAILED);

/** What the messages dialect says in words alone, and chat clients look for as a code: applications shorten and ask again. */
const TOO_LONG = /prompt is too long|exceeds? (the )?context (limit|window)/i;

/** A messages provider's error for a chat client. What the error says beside stays. */
export function chatErrorOf<E extends ErrorWords>(error: E): E {
  const found = BY_MESSAGES.get(error.type) ?? byStatus(error.status);
  const status = CHAT_STATUS.get(found.messages) ?? statusOf(found, error.status);
  const said = found === INVALID && TOO_LONG.test(error.message ?? "") ? "context_length_exceeded" : null;
  return { ...error, type: found.chat, code: said ?? found.code ?? error.code, status };
}

/** A chat provider's error for a messages client. What the error says beside stays, its code too. */
export function messagesErrorOf<E extends ErrorWords>(error: E): E {
  const typed = BY_CHAT.get(error.type);
  // That a request is invalid says less than its status.
  const found = BY_CODE.get(error.code) ?? (typed === INVALID ? undefined : typed) ?? byStatus(error.status);
  return { ...error, type: found.messages, status: statusOf(found, error.status) };
}

const statusOf = ({ status, keeps }: Row, given: number): number => (keeps.includes(given) ? given : status);
