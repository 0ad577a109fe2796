// Names of accounts as they are compared: in Unicode NFC and without regard to case. A new name is kept in NFC. Older
// accounts keep theirs as they were spelled, so a look-up asks for those spellings too.

/** Mixed spellings are tried up to so many; beyond, only the wholly composed and the wholly decomposed one. */
const SPELLINGS_COUNT_MAX = 32;

/** A name as a new account keeps it. */
export const composed = (name: string): string => name.normalize("NFC");

/** The claim that a name is taken, and of which there is one for each spelling. */
export const nameClaim = (spelling: string): string => `name:${spelling.toLowerCase()}`;

/**
 * The spellings of a name in lower case under which accounts may be found: as it is given first, then in NFC, then those
 * that only accounts older than the rule can have. Most names have one.
 */
export function spellingsOf(name: string): readonly string[] {
  const given = name.toLowerCase();
  const whole = composed(name).toLowerCase();
  const apart = whole.normalize("NFD");
  return [...new Set([given, whole, apart, ...(apart === whole ? [] : mixed(apart))])];
}

/** The spellings in which each character is composed or decomposed by itself; none where they are too many. */
function mixed(apart: string): readonly string[] {
  let spellings = [""];
  for (const character of apart.match(/\P{M}\p{M}*|\p{M}+/gu) ?? []) {
    const forms = [...new Set([character.normalize("NFC"), character])];
    if (spellings.length * forms.length > SPELLINGS_COUNT_MAX) return [];
    spellings = spellings.flatMap((begun) => forms.map((form) => begun + form));
  }
  return spellings;
}
