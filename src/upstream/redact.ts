// An error's text rid of what must not leave: the key's secrets, and names out of the provider's account. What else a
// message may not tell a client is provider-error.ts's to know.

/** Fields that say what an error is; whatever else is text may tell names. */
const WORDS = new Set(["code", "type", "status", "reason", "error_code"]);
/** What stands below it passes to the client with the names of its fields. */
const DETAILS_FIELD = "details";
const REMOVED = "[removed]";
/** Levels of an error's JSON that are kept. Nobody reads as many. */
const DEPTH_KEPT = 10;

/**
 * Takes secrets out of an error's text, and names (of deployments, of projects) out of what it says in words. JSON has many
 * spellings for one text, so both are looked for in its values; a name, which may be as plain as "error", as a whole.
 */
export function createRedactor(
  secrets: readonly string[],
  names: readonly string[],
): (text: string) => string {
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

  return (text) => {
    try {
      return JSON.stringify(cleaned(JSON.parse(text), anyOf(names), "", 0, false));
    } catch (error) {
      // Of what is no JSON nothing is ever passed on.
      if (error instanceof SyntaxError) return withoutSecrets(text);
      throw error;
    }
  };
}

/** Matches each of the names as a whole, and of none nothing. */
function anyOf(names: readonly string[]): RegExp {
  if (names.length === 0) return /(?!)/g;
  const spellings = names.flatMap((name) => [name, encodeURIComponent(name.toWellFormed())]);
  return new RegExp(`(?<![\\w.-])(?:${spellings.map(RegExp.escape).join("|")})(?![\\w-]|\\.\\w)`, "gi");
}
