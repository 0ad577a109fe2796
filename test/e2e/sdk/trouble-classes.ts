// The class of error that each client throws for a status; every status of the troubles must be here.

import type { ClientName } from "./script.ts";

type Classes = Readonly<Record<number, string>>;

const COMMON: Classes = {
  400: "BadRequestError",
  401: "AuthenticationError",
  403: "PermissionDeniedError",
  404: "NotFoundError",
  409: "ConflictError",
  422: "UnprocessableEntityError",
  429: "RateLimitError",
  502: "InternalServerError",
};

const OPENAI: Classes = { ...COMMON, 503: "InternalServerError", 504: "InternalServerError" };
const ANTHROPIC: Classes = {
  ...COMMON,
  413: "ContentTooLargeError",
  503: "ServiceUnavailableError",
  504: "GatewayTimeoutError",
};
const PYTHON_OPENAI: Classes = { ...OPENAI, 413: "APIStatusError" };

const BY_CLIENT: Readonly<Partial<Record<ClientName, Classes>>> = {
  openai: { ...OPENAI, 413: "APIError" },
  anthropic: ANTHROPIC,
  "openai in Python": PYTHON_OPENAI,
  "openai in Python, async": PYTHON_OPENAI,
  "anthropic in Python": ANTHROPIC,
  "anthropic in Python, async": ANTHROPIC,
  "langchain, chat": OPENAI,
  "langchain, messages": ANTHROPIC,
};

/** Vercel's has one class for all. */
export const classOf = (name: ClientName, status: number): string | undefined =>
  name.startsWith("vercel") ? "AI_APICallError" : BY_CLIENT[name]?.[status];
