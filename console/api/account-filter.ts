// Which filter of a list of accounts a searched text is meant for, by its form (contract section 3: identifiers). The service
// judges the value; this only decides which parameter has it.

/** Parameters of `/x-users` and `/x-dna` that narrow the list. */
export type AccountFilter = Readonly<Partial<Record<"id" | "name" | "email" | "level" | "dna", string>>>;

/**
 * Returns the filter that a text is meant for: digits are an id, what has an `@` is an e-mail address, `L2`, `G1`, `R0`, `T3` and
 * `F1.5` are filters by Level, Gear, Role, Tier and Factor, `.1.2.` is the beginning of a DNA, anything else a part of a name.
 * No filter for an empty text.
 */
export function accountFilterOf(text: string): AccountFilter {
  const wanted = text.trim();
  if (wanted === "") return {};
  if (wanted.includes("@")) return { email: wanted };
  if (/^\d+$/.test(wanted)) return { id: wanted };
  if (/^[LGRTF]\d[0-9.]*$/i.test(wanted)) return { level: wanted.toUpperCase() };
  if (/^L-\d+$/i.test(wanted)) return { level: wanted.slice(1) };
  if (/^\.[0-9.]*$/.test(wanted)) return { dna: wanted };
  return { name: wanted };
}
