// Every path of the gateway, with the dialect it speaks and how it is metered. A path that is not in this table does not
// exist: there is no free pass-through.

import { chat } from "../dialect/chat.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { countTokens, messages } from "../dialect/messages.ts";

export interface Surface {
  readonly path: string;
  readonly dialect: Dialect;
  /** `tokens`: by the usage of the answer. `free`: never charged, though it counts as a request. */
  readonly meter: "tokens" | "free";
}

export const SURFACES: readonly Surface[] = [
  { path: "/v1/chat/completions", dialect: chat, meter: "tokens" },
  { path: "/v1/messages", dialect: messages, meter: "tokens" },
  { path: "/v1/messages/count_tokens", dialect: countTokens, meter: "free" },
];
