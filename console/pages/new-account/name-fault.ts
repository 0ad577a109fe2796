// What is wrong with a name while it is typed. A hint that needs no round trip; the service has the rule, and judges.

/** A rule that a name breaks. */
export type NameFault = "length" | "letter" | "spaces" | "form" | "hidden";

/** Returns how many characters a text has, each code point one. */
export const characterCount = (text: string): number => [...text].length;

/** Returns the first rule that a name breaks, or null; an empty one breaks none yet. */
export function nameFault(name: string): NameFault | null {
  if (name === "") return null;
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/u.test(name)) return "hidden";
  if (name.trim() !== name) return "spaces";
  if (/[@/]/.test(name) || name.startsWith(".") || /^[LGRTF][0-9.]+$/.test(name)) return "form";
  if (!/\p{L}/u.test(name)) return "letter";
  const length = characterCount(name.normalize("NFC"));
  return length < 4 || length > 63 ? "length" : null;
}
