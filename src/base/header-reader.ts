// The interface of header fields that were parsed: the runtime's `Headers` and our own fields both have it. It parses nothing.

/** Header fields, by name in any case. A repeated field is one value, joined by ", ". */
export interface HeaderReader {
  get(name: string): string | null;
  has(name: string): boolean;
}
