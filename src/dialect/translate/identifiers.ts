// Converts tool names, call ids and user names to a form that the provider accepts. The conversion is
// deterministic, so that a call, its definition and its result still match. Nothing is stored beyond one
// request.

const TAKEN = /^[a-zA-Z0-9_-]+$/;
const HASH_LENGTH = 8;

const hashOf = (name: string): string => new Bun.CryptoHasher("sha256").update(name).digest("hex");

/**
 * Returns the name if it fits, otherwise its beginning with a hash of the whole name, in characters that every provider
 * accepts. `isAnyText` says that this provider has no rule about characters.
 */
function fitted(name: string, lengthMax: number, isAnyText: boolean): string {
  if (name.length <= lengthMax && (isAnyText || TAKEN.test(name))) return name;
  const hash = hashOf(name).slice(0, HASH_LENGTH);
  return `${name.slice(0, lengthMax - HASH_LENGTH - 1).replace(/[^a-zA-Z0-9_-]/g, "_")}_${hash}`;
}

/** The tool names of one request. */
export interface ToolNames {
  /** Returns the name that the provider receives. */
  sent(name: string): string;
  /** The names given, by the changed names that were sent. */
  readonly renamed: ReadonlyMap<string, string>;
}

/** Creates the tool names of one request, with at most `lengthMax` characters each. */
export function createToolNames(lengthMax: number): ToolNames {
  const renamed = new Map<string, string>();
  return {
    sent(name) {
      const sent = fitted(name, lengthMax, false);
      if (sent !== name) renamed.set(sent, name);
      return sent;
    },
    renamed,
  };
}

/** The call ids of one request. */
export interface Ids {
  /** Returns an id for the next call: the client's if it fits and was not used before. */
  next(id: string): string;
}

/** Characters reserved for the number that distinguishes calls with the same id. */
const COUNT_LENGTH = 8;

/** What a provider accepts as the id of a call. */
export interface IdRules {
  /** In characters. */
  readonly lengthMax: number;
  /** Whether any character may be in it, otherwise letters, digits, `_` and `-` alone. */
  readonly isAnyText: boolean;
}

/** Creates the call ids of one request. */
export function createIds({ lengthMax, isAnyText }: IdRules): Ids {
  const used = new Set<string>();
  const counts = new Map<string, number>();
  return {
    next(id) {
      const first = id === "" ? "call" : fitted(id, lengthMax, isAnyText);
      const base = first.slice(0, lengthMax - COUNT_LENGTH);
      let fresh = first;
      while (used.has(fresh)) {
        const count = (counts.get(base) ?? 1) + 1;
        counts.set(base, count);
        fresh = `${base}_${count}`;
      }
      used.add(fresh);
      return fresh;
    },
  };
}

/**
 * Returns the client's user name, or its hash if it is too long for the provider. Returns null without one.
 */
export function userName(name: unknown, lengthMax: number): string | null {
  if (typeof name !== "string" || name === "") return null;
  return name.length <= lengthMax ? name : hashOf(name);
}
