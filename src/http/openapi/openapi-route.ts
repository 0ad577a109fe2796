// What the document reads of a route and of its handler.

import type { Endpoint } from "../endpoint.ts";
import { isIdempotentPath } from "../idempotency.ts";

/** What a handler takes, where it says so itself. */
export type AcceptedBody = Endpoint["takes"];

export interface RowRoute {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** As the router has it: `:name` for a part, a star at the end for one part or more. */
  readonly path: string;
  readonly handle: { readonly takes?: AcceptedBody };
}

/** Does an Idempotency-Key make a repeat of it harmless? Of the gateway's paths their rows tell. */
export const isRepeatable = ({ method, path }: RowRoute): boolean =>
  method !== "GET" && isIdempotentPath(path);
