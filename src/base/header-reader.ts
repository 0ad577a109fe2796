// How header fields are read, whatever parsed them: the runtime's `Headers` and our own fields both fit.

/** Header fields, by name in any case. A repeated field is one value, joined by ", ". */
export interface HeaderReader {
  get(name: string): string | null;
  has(name: string): boolean;
}
