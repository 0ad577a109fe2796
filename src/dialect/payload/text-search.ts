// Searches a JSON body for a text without parsing it. A JSON string may spell any character as an escape.

/**
 * Returns false only if the body contains no spelling of `words`, which must be ASCII. `has` searches the
 * body for a text. Escapes of ASCII letters are rare, so a body with one of them is assumed to contain the
 * words.
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
