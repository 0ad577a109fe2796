// The shapes of header fields: those that were parsed, which the runtime's `Headers` and our own fields both have, and those that are
// sent. It parses nothing.

/** Header fields, by name in any case. A repeated field is one value, joined by ", ". */
export interface HeaderReader {
  get(name: string): string | null;
  has(name: string): boolean;
}

/** Header fields to send, each name once. */
export type HeaderRecord = Readonly<Record<string, string>>;
