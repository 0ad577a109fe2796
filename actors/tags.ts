// Tags of requests and API keys: their one textual form, and its bounds. What a tag means is the customer's affair; a tag
// never reaches a provider.

/** Tags by name. */
export type Tags = Readonly<Record<string, string>>;

/** Pairs of one request or key. */
const PAIRS_MAX = 8;
const NAME = /^[a-z0-9_.-]{1,32}$/;
/** Printable ASCII without comma and equals sign; blanks at the ends are cut before. */
const VALUE = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{1,64}$/;
/** The names of rows that stand for several tags or none, in bills. */
const RESERVED: ReadonlySet<string> = new Set(["(other)", "(none)"]);

/** The text of tags that states none. */
export const NO_TAGS: Tags = Object.freeze({});

/**
 * Parses `team=search,env=prod` (contract section 8). Returns the tags, or a sentence that says what is wrong. An empty text
 * has no tags. A name that stands twice is wrong, because one of its values would be ignored unnoticed.
 */
export function parseTags(text: string): Tags | string {
  if (text.trim() === "") return NO_TAGS;
  const pairs = text.split(",");
  if (pairs.length > PAIRS_MAX)
    return `at most ${PAIRS_MAX} pairs are allowed, and these are ${pairs.length}.`;
  const tags = new Map<string, string>();
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 0) return "each pair is NAME=VALUE, as in team=search,env=prod.";
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    if (!NAME.test(name)) return "a name is 1 to 32 of a to z, 0 to 9, underscore, dot and hyphen.";
    if (!VALUE.test(value))
      return "a value is 1 to 64 printable ASCII characters without comma and equals sign.";
    if (RESERVED.has(value)) return `the value ${value} stands for other rows of bills: choose another one.`;
    if (tags.has(name)) return `the name ${name} stands there twice.`;
    tags.set(name, value);
  }
  return Object.fromEntries(tags);
}

/** Returns the tags of a request: those of its API key, which the header's add to and override. */
export function mergeTags(keyTags: Tags | undefined, headerTags: Tags): Tags {
  // A spread, and no assignment, because `__proto__` is a name like any other.
  return keyTags === undefined ? headerTags : { ...keyTags, ...headerTags };
}

/** Whether there is no tag at all. */
export function isUntagged(tags: Tags): boolean {
  for (const _ in tags) return false;
  return true;
}
