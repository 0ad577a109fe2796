// Normal forms of account names. Names are compared in Unicode NFC and without case. New accounts store their
// name in NFC; older ones keep the spelling they were given, so a look-up tries those spellings too.

/**
 * Mixed spellings to try; if a name has more, only the fully composed and the fully decomposed one are tried.
 */
const SPELLINGS_COUNT_MAX = 32;

/** Returns a name in NFC, as a new account stores it. */
export const composed = (name: string): string => name.normalize("NFC");

/** Returns the key of the store's claim on a name; each spelling has its own. */
export const nameClaim = (spelling: string): string => `name:${spelling.toLowerCase()}`;

/**
 * Returns the spellings of a name, in lower case, under which an account may be found: as given, in NFC, then
 * those that only older accounts can have. Most names have one spelling.
 */
export function spellingsOf(name: string): readonly string[] {
  const given = name.toLowerCase();
  const whole = composed(name).toLowerCase();
  const apart = whole.normalize("NFD");
  return [...new Set([given, whole, apart, ...(apart === whole ? [] : mixed(apart))])];
}

/**
 * Returns the spellings in which each character is composed or decomposed independently; empty if there are
 * too many.
 */
function mixed(apart: string): readonly string[] {
  let spellings = [""];
  for (const character of apart.match(/\P{M}\p{M}*|\p{M}+/gu) ?? []) {
    const forms = [...new Set([character.normalize("NFC"), character])];
    if (spellings.length * forms.length > SPELLINGS_COUNT_MAX) return [];
    spellings = spellings.flatMap((begun) => forms.map((form) => begun + form));
  }
  return spellings;
}
