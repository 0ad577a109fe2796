// The content types of answers. A provider's own content type is passed on only if it is one of these,
// because browsers act on it.

const SOUND = /^\s*(audio\/[a-z0-9][\w.+-]{0,63})\s*(?:;|$)/i;
/** Text formats. They are read and therefore sent as UTF-8. */
const WORDS = /^\s*(text\/plain|text\/vtt|text\/srt|application\/x-subrip)\s*(?:;|$)/i;

/** Returns the content type of an audio answer; `application/octet-stream` for an unknown one. */
export const soundType = (given: string): string =>
  SOUND.exec(given)?.[1]?.toLowerCase() ?? "application/octet-stream";

/** Returns the content type of a text answer that is not JSON; `text/plain` for an unknown one. */
export const wordsType = (given: string): string =>
  `${WORDS.exec(given)?.[1]?.toLowerCase() ?? "text/plain"}; charset=utf-8`;
