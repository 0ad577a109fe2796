// Where a request carries its key, and how the memory of a request is rid of it.
// It judges no key: any text will do.

import type { Headers } from "./wire.ts";

/** The token of `Authorization: Bearer`; empty without one. */
export const bearerOf = (headers: Headers): string =>
  /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";

const SECRET_HEADERS = new Set(["authorization", "api-key", "x-api-key"]);

export const withoutSecrets = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !SECRET_HEADERS.has(name)));
