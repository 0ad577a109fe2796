// Whether a JSON body says some words, without parsing it: a JSON string may spell any of them as an escape.

/**
 * False only when no spelling of `words` is in the body. `has` searches it for a text; `words` are of ASCII.
 * Escapes of such letters are rare, so a body that spells one of them so is taken to say the words.
 */
export function mayMention(words: string, has: (text: string) => boolean): boolean {
  return has(words) || (has("\\u00") && escapesOf(words).some(has));
}

function escapesOf(words: string): string[] {
  const spelt = [...new Set(words)].flatMap((letter) => {
    const hex = letter.charCodeAt(0).toString(16).padStart(2, "0");
    return [`\\u00${hex}`, `\\u00${hex.toUpperCase()}`];
  });
  return [...new Set(spelt)];
}
