// Cleans a provider's `error.details` for the client: it keeps the texts by which an SDK decides, bounds
// depth, entries and size, and removes names from the provider's account, keys and addresses.

import { clean } from "./provider-error.ts";

/** An object, or a list of objects. */
export type ErrorDetails = Readonly<Record<string, unknown>> | readonly unknown[];

const DETAILS_CHARS_MAX = 4_096;
const DETAILS_DEPTH_MAX = 5;
/** Limit for each object or list. */
const DETAILS_ENTRIES_MAX = 50;

/** Form of the field names that an SDK reads. A name of another form could be anything, even a secret. */
const FIELD = /^@?[A-Za-z][\w.-]{0,63}$/;

/** Fields whose value names the provider's account; compared with the result of `wordsOf`. */
const ACCOUNT_FIELD =
  /^(account|consumer|deployment|org|organi[sz]ation|project|resource|subscription|tenant|workspace)(id|name|number|uuid)?$/;

const REMOVED = "[removed]";

/** Returns the cleaned details of one error. Returns null when it has none or none may be shown. */
export function cleanDetails(details: unknown): ErrorDetails | null {
  if (typeof details !== "object" || details === null) return null;
  const kept = new DetailsCleaner().copy(details, 1) as ErrorDetails;
  return Object.keys(kept).length === 0 ? null : kept;
}

/** Copies one value: it takes entries until its budget of characters is used up, and omits the rest. */
class DetailsCleaner {
  private left = DETAILS_CHARS_MAX;

  copy(value: object, depth: number): ErrorDetails {
    if (Array.isArray(value)) {
      const kept: unknown[] = [];
      for (const one of value.slice(0, DETAILS_ENTRIES_MAX)) this.take("", one, depth, (it) => kept.push(it));
      return kept;
    }
    const kept: [string, unknown][] = [];
    for (const [field, one] of Object.entries(value).slice(0, DETAILS_ENTRIES_MAX)) {
      const isFit = FIELD.test(field) && clean(field) === field;
      if (isFit) this.take(field, one, depth, (it) => kept.push([field, it]));
    }
    return Object.fromEntries(kept);
  }

  /** Keeps one entry if the budget has room for it. */
  private take(field: string, value: unknown, depth: number, keep: (value: unknown) => void): void {
    if (typeof value === "object" && value !== null) {
      this.left -= field.length + 6;
      if (depth < DETAILS_DEPTH_MAX && this.left > 0) keep(this.copy(value, depth + 1));
      return;
    }
    const cleaned = ACCOUNT_FIELD.test(wordsOf(field)) && value !== null ? REMOVED : scalar(value);
    this.left -= field.length + 4 + JSON.stringify(cleaned).length;
    if (this.left >= 0) keep(cleaned);
  }
}

/** Returns a field's name in lower case without the separators of its words. */
const wordsOf = (field: string): string => field.toLowerCase().replace(/[@._-]/g, "");

const scalar = (value: unknown): unknown => (typeof value === "string" ? clean(value) : value);
