// What an answer may be called: a provider's own word for it only where it is one of these, since a browser believes it.

const SOUND = /^\s*(audio\/[a-z0-9][\w.+-]{0,63})\s*(?:;|$)/i;
/** Words in their forms; read as UTF-8, and so they are written. */
const WORDS = /^\s*(text\/plain|text\/vtt|text\/srt|application\/x-subrip)\s*(?:;|$)/i;

/** Of an answer of bytes. */
export const soundType = (given: string): string =>
  SOUND.exec(given)?.[1]?.toLowerCase() ?? "application/octet-stream";

/** Of an answer that is text and not JSON. */
export const wordsType = (given: string): string =>
  `${WORDS.exec(given)?.[1]?.toLowerCase() ?? "text/plain"}; charset=utf-8`;
