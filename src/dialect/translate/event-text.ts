// Writes events as text. It must not know any dialect.

/** Returns an event as it is sent; `json` must be one line. */
export const event = (type: string, json: string): string => `event: ${type}\ndata: ${json}\n\n`;

/** Returns events that differ in one string only; the strings must have no character that JSON escapes. */
export const plainEvents = (before: string, texts: readonly string[], after: string): string =>
  texts.length === 1
    ? `${before}"${texts[0]}"${after}`
    : `${before}"${texts.join(`"${after}${before}"`)}"${after}`;
