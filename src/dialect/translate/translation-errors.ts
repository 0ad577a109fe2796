// What a translation refuses: the first part of a request that the other dialect has no word for. Reading goes on after
// it, so that no reader needs a second way out; it never throws.

import type { RequestRefusal } from "../dialect.ts";

export interface Refusals {
  /** Refuses the request for a field; the first one counts. */
  add(field: string, rule: string): void;
  readonly first: RequestRefusal | null;
}

export function createRefusals(): Refusals {
  let first: RequestRefusal | null = null;
  return {
    add(field, rule) {
      first ??= { code: "invalid_parameter", field, message: `${field} ${rule}` };
    },
    get first() {
      return first;
    },
  };
}
