// Answers a request for a file of the console: compressed where the client takes it so, and to be kept for ever, since a file that
// changes gets another name. The codings of request bodies are in src/gateway/content-coding.ts.

import type { ConsoleFiles, FileCoding } from "./build.ts";
import { securityHeaders } from "./index-page.ts";

/** In the order in which they are preferred: the smaller first. */
const CODINGS: readonly FileCoding[] = ["br", "gzip"];

/** Registered aliases of codings (RFC 9110, 8.4.1.3). */
const ALIASES: Readonly<Record<string, string>> = { "x-gzip": "gzip" };

/** Resolves to the answer; null where there is no such file, or none for this listener. */
export async function fileAnswer(
  files: ConsoleFiles,
  name: string,
  accepted: string | null,
  servesAdministration: boolean,
): Promise<Response | null> {
  const found = await files.find(name);
  if (found === null || (found.isAdministration && !servesAdministration)) return null;
  const coding = acceptedCoding(accepted);
  const bytes = await files.read(found, coding);
  if (bytes === null) return null;
  const headers = {
    ...securityHeaders(null),
    "cache-control": "public, max-age=31536000, immutable",
    "content-type": found.type,
    vary: "accept-encoding",
  };
  return new Response(bytes, {
    headers: coding === null ? headers : { ...headers, "content-encoding": coding },
  });
}

/**
 * Returns the coding to answer with, null for none (RFC 9110, 12.5.3). `accepted`: the header's value. A weight only says whether
 * a coding is accepted: which of the accepted ones is best is ours to choose. A client that accepts nothing gets no coding either.
 */
export function acceptedCoding(accepted: string | null): FileCoding | null {
  if (accepted === null) return null;
  const weights = new Map(accepted.toLowerCase().split(",").map(weightOf));
  const isAccepted = (coding: FileCoding) => (weights.get(coding) ?? weights.get("*") ?? 0) > 0;
  return CODINGS.find(isAccepted) ?? null;
}

/** Returns the coding that an entry names, and its weight; a weight that is no number accepts nothing. */
function weightOf(entry: string): [string, number] {
  const [name = "", ...parameters] = entry.split(";").map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  return [ALIASES[name] ?? name, weight === undefined ? 1 : Number(weight.slice(2))];
}
