// Removes the key's secrets and names from the provider's account from an error's text. What else must not
// reach a client is removed by provider-error.ts.

/** Fields that classify an error. Names are not removed from them, because a code may equal a name. */
const WORDS = new Set(["code", "type", "status", "reason", "error_code"]);
/** Its content is returned to the client with its field names. */
const DETAILS_FIELD = "details";
const REMOVED = "[removed]";
/** Levels of an error's JSON that are kept; deeper values become null. */
const DEPTH_KEPT = 10;

/**
 * Returns an error's text without `secrets` and `names` (of deployments, of projects). JSON can spell one text in many
 * ways, so parsed values are searched. A name must match as a whole, since it may be as common as "error".
 */
export function redacted(text: string, secrets: readonly string[], names: readonly string[]): string {
  const kept = secrets.filter((secret) => secret !== "");
  const withoutSecrets = (text: string) =>
    kept.reduce((clean, secret) => clean.replaceAll(secret, REMOVED), text);

  function cleaned(value: unknown, name: RegExp, field: string, depth: number, passes: boolean): unknown {
    if (typeof value === "string") {
      const clean = withoutSecrets(value);
      return WORDS.has(field) ? clean : clean.replace(name, REMOVED);
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth === DEPTH_KEPT) return null;
    const inside = (one: unknown, of: string) =>
      cleaned(one, name, of, depth + 1, passes || of === DETAILS_FIELD);
    const fieldOf = (of: string) =>
      passes && !WORDS.has(of) ? withoutSecrets(of).replace(name, REMOVED) : withoutSecrets(of);
    return Array.isArray(value)
      ? value.map((one) => inside(one, ""))
      : Object.fromEntries(Object.entries(value).map(([of, one]) => [fieldOf(of), inside(one, of)]));
  }

  try {
    return JSON.stringify(cleaned(JSON.parse(text), anyOf(names), "", 0, false));
  } catch (error) {
    // Text that is not JSON never reaches a client, so only secrets are removed.
    if (error instanceof SyntaxError) return withoutSecrets(text);
    throw error;
  }
}

/** Returns a pattern that matches each name as a whole; without names it matches nothing. */
function anyOf(names: readonly string[]): RegExp {
  if (names.length === 0) return /(?!)/g;
  const spellings = names.flatMap((name) => [name, encodeURIComponent(name.toWellFormed())]);
  return new RegExp(`(?<![\\w.-])(?:${spellings.map(RegExp.escape).join("|")})(?![\\w-]|\\.\\w)`, "gi");
}
