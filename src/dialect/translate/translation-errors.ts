// Collects the refusal of a translation: the first part of a request that the other dialect cannot express.
// Readers continue after a refusal, so that they need no early return. Nothing here throws.

import type { RequestRefusal } from "../dialect.ts";

/** The refusal of one request, if any. */
export interface Refusals {
  /** Refuses the request because of a field; only the first call counts. */
  add(field: string, rule: string, code?: RequestRefusal["code"]): void;
  readonly first: RequestRefusal | null;
}

/** Creates a collector without a refusal. */
export function createRefusals(): Refusals {
  let first: RequestRefusal | null = null;
  return {
    add(field, rule, code = "invalid_parameter") {
      first ??= { code, field, message: `${field} ${rule}` };
    },
    get first() {
      return first;
    },
  };
}
