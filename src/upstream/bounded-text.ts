// The text of an answer that is no stream of content: read within bounds, whatever the provider does, and rid of what must
// not leave. It judges nothing; signal.ts does.

import type { Clock } from "../runtime/clock.ts";

const BODY_MAX = 64 * 1024;
const BODY_MS = 5_000;

/** The text of a body, as far as it comes within 64 KB and 5 s. */
export async function readBounded(response: Response, clock: Clock): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const late = Promise.withResolvers<null>();
  const stopTimer = clock.after(BODY_MS, () => late.resolve(null));
  const decoder = new TextDecoder();
  let text = "";
  let left = BODY_MAX;
  try {
    while (left > 0) {
      const next = await Promise.race([reader.read(), late.promise]);
      if (next === null || next.done) break;
      text += decoder.decode(next.value.subarray(0, left), { stream: true });
      left -= next.value.length;
    }
  } catch (error) {
    // A body that breaks off still has a status, which says enough.
    if (!(error instanceof Error)) throw error;
  } finally {
    stopTimer();
    // Nobody waits for the rest, so nobody need hear that giving it up failed.
    reader.cancel().catch(() => undefined);
  }
  return text;
}

/** Fields that say what an error is; whatever else is text may tell names. */
const WORDS = new Set(["code", "type", "status", "reason", "error_code"]);

/**
 * Takes secrets out of an error's text, and names (of deployments, of projects) out of what it says in words. A name may
 * be as plain as "error", so it is looked for in the values of the JSON only, and as a whole.
 */
export function scrubber(secrets: readonly string[], names: readonly string[]): (text: string) => string {
  const kept = secrets.filter((secret) => secret !== "");
  return (text) => {
    let clean = text;
    for (const secret of kept) clean = clean.replaceAll(secret, "[removed]");
    return names.length === 0 ? clean : withoutNames(clean, names);
  };
}

function withoutNames(text: string, names: readonly string[]): string {
  const spellings = names.flatMap((name) => [name, encodeURIComponent(name.toWellFormed())]);
  const any = new RegExp(`(?<![\\w.-])(?:${spellings.map(RegExp.escape).join("|")})(?![\\w-]|\\.\\w)`, "gi");
  try {
    const seen = JSON.parse(text, (field, value) =>
      typeof value === "string" && !WORDS.has(field) ? value.replace(any, "[removed]") : value,
    );
    return JSON.stringify(seen);
  } catch (error) {
    // Of what is no JSON nothing is ever passed on.
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}
