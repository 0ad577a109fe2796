// What an answer that is not an answer is made of: a status, and what is said with it in each style.
// The forms of the vendors' errors are here; which ones there are is in refusals.ts.

import type { Clock } from "../../src/base/clock.ts";
import type { Script } from "./script.ts";

export interface Saying {
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Refusal {
  readonly status: number;
  readonly chat: Saying;
  readonly messages: Saying;
}

/** The same from hosts that do not care how they were asked. */
export const either = (status: number, saying: Saying): Refusal => ({
  status,
  chat: saying,
  messages: saying,
});

type ChatWords = readonly [
  message: string,
  type: string,
  code?: string | number | null,
  param?: string | null,
];
type MessagesWords = readonly [type: string, message: string, details?: object | undefined];

/** The same trouble in the words of either style. */
export const refusal = (status: number, chat: ChatWords, messages: MessagesWords): Refusal => ({
  status,
  chat: openai(...chat),
  messages: claude(...messages),
});

const openai = (
  message: string,
  type: string,
  code: string | number | null = null,
  param: string | null = null,
): Saying => ({ body: { error: { message, type, param, code } } });

export const claude = (type: string, message: string, details?: object): Saying => ({
  body: {
    type: "error",
    error: { type, message, ...(details !== undefined && { details }) },
    request_id: "req_standin",
  },
});

export const google = (status: number, code: string, message: string, reason?: string): Refusal =>
  either(status, {
    body: {
      error: {
        code: status,
        message,
        status: code,
        ...(reason !== undefined && {
          details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason }],
        }),
      },
    },
  });

export const html = (status: number, title: string): Saying => ({
  headers: { "content-type": "text/html; charset=UTF-8", server: "cloudflare" },
  body: `<html>\r\n<head><title>${status} ${title}</title></head>\r\n<body>\r\n<center><h1>${status} ${title}</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n`,
});

/** What the stand-in itself finds wrong with a request. `code` is a detail in the messages style. */
export const badRequest = (
  message: string,
  param: string | null = null,
  code: string | null = null,
): Refusal =>
  refusal(
    400,
    [message, "invalid_request_error", code, param],
    ["invalid_request_error", message, code === null ? undefined : { error_code: code }],
  );

/** Something named that is not there, or not for this key. */
export const notFound = (message: string, param: string | null = null, code: string | null = null): Refusal =>
  refusal(404, [message, "invalid_request_error", code, param], ["not_found_error", message]);

export const invalidUrl = (method: string, path: string): Refusal =>
  refusal(
    404,
    [`Invalid URL (${method} ${path})`, "invalid_request_error"],
    ["not_found_error", "Not found"],
  );

export const NO_KEY: Refusal = refusal(
  401,
  [
    "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    "invalid_request_error",
  ],
  ["authentication_error", "x-api-key header is required"],
);

const DAY_MS = 86_400_000;

/** Words of `retry` that stand for a moment, which has blanks when it is written out: milliseconds from now. */
const MOMENTS: Readonly<Record<string, number>> = { date: 20_000, past: -DAY_MS };

/** The headers that say when to come back, as the script has them; none unless it asks. */
export function retryHeaders({ retry, retry_ms }: Script, clock: Clock): Record<string, string> {
  const aheadMs = MOMENTS[retry ?? ""];
  const after = aheadMs === undefined ? retry : new Date(clock.wall() + aheadMs).toUTCString();
  return {
    ...(after !== undefined && { "retry-after": after }),
    ...(retry_ms !== undefined && { "retry-after-ms": retry_ms }),
  };
}
