// What of a provider's `error.details` may leave: words by which an SDK decides what to do, cleaned like the message beside
// them and bounded in depth, entries and size. Names of the provider's account, its keys and addresses stay behind.

import { clean } from "./provider-error.ts";

/** An object, or a list of them. */
export type ErrorDetails = Readonly<Record<string, unknown>> | readonly unknown[];

const DETAILS_CHARS_MAX = 4_096;
const DETAILS_DEPTH_MAX = 5;
/** Entries of one object or list. */
const DETAILS_ENTRIES_MAX = 50;

/** Fields that an SDK looks for. Another name may be anything, a secret too. */
const FIELD = /^@?[A-Za-z][\w.-]{0,63}$/;

/** Fields whose value names the provider's account, in any spelling of their words. */
const ACCOUNT_FIELD =
  /^(account|consumer|deployment|org|organi[sz]ation|project|resource|subscription|tenant|workspace)(id|name|number|uuid)?$/;

const REMOVED = "[removed]";

/** The details of one error, cleaned; null: it has none, or nothing of them may leave. */
export function cleanDetails(details: unknown): ErrorDetails | null {
  if (typeof details !== "object" || details === null) return null;
  const kept = new DetailsCleaner().copy(details, 1) as ErrorDetails;
  return Object.keys(kept).length === 0 ? null : kept;
}

/** One copy under way: it takes entries until its characters are used up, and leaves the rest. */
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

  /** Keeps one entry, if there is room for it. */
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

/** A field's name without what joins its words. */
const wordsOf = (field: string): string => field.toLowerCase().replace(/[@._-]/g, "");

const scalar = (value: unknown): unknown => (typeof value === "string" ? clean(value) : value);
