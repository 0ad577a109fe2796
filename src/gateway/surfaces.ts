// Every path of the gateway, with the dialect it speaks and how it is metered. A path that is not in this table does not
// exist: there is no free pass-through.

import { chat } from "../dialect/chat.ts";
import type { Dialect } from "../dialect/dialect.ts";
import { countTokens, messages } from "../dialect/messages.ts";
import { Refused } from "../runtime/system.ts";

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

/** The surface of a path that a question names. Refuses one that is not in the table. */
export function surfaceAt(path: string): Surface {
  const found = SURFACES.find((one) => one.path === path);
  if (found !== undefined) return found;
  const paths = SURFACES.map((one) => one.path).join(", ");
  throw new Refused({ code: "invalid_parameter", message: `"path" must be one of ${paths}.` });
}
