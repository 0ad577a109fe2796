// News: those that reach the account in one list, what may be written, and what the account has published, which the operation log
// knows. Texts of news are texts: nothing in them is markup.

import type { Answers } from "./answers.ts";
import { type LogLine, loggedAt, loggedValue, readDetails } from "./log-details.ts";

type NewsAnswer = Answers["/dashboard/news"];

/** Whom news are for. */
export type NewsKind = "system" | "user" | "group";

/** An item of the news, with whom it is for. */
export type NewsItem = NewsAnswer["system_news"][number] & { readonly kind: NewsKind };

/** Returns all news in one list, the newest first. */
export const allNews = ({ system_news, user_news, dna_news }: NewsAnswer): readonly NewsItem[] =>
  [
    ...system_news.map((item) => ({ ...item, kind: "system" as const })),
    ...user_news.map((item) => ({ ...item, kind: "user" as const })),
    ...dna_news.map((item) => ({ ...item, kind: "group" as const })),
  ].sort((one, other) => other.created_at.localeCompare(one.created_at));

/** Bounds of an item (contract section 2: lengths count code points). */
export const NEWS_BOUNDS = { title: 100, content: 1_000, days: 36_500 } as const;
/** How many days an item is shown when it is not said. */
export const NEWS_DAYS = { everybody: 7, target: 32 } as const;

/** Returns how many code points a text has, as the service counts. */
export const codePointsOf = (text: string): number => [...text].length;

/** What is typed into the form of an item. */
export interface NewsDraft {
  readonly title: string;
  readonly content: string;
  readonly days: string;
}

/** The body of an item, as `POST /x-news` takes it. */
export interface NewsBody {
  readonly title: string;
  readonly content: string;
  readonly days?: number;
}

/** Whether a number of days can be sent; an empty one is left to the service. */
export const areDays = (days: string): boolean =>
  days.trim() === "" ||
  (/^\d{1,5}$/.test(days.trim()) && Number(days) >= 1 && Number(days) <= NEWS_BOUNDS.days);

/** Returns the body for a draft, or null while it could not be published. */
export function newsBody({ title, content, days }: NewsDraft): NewsBody | null {
  const fits = (text: string, most: number) => text.trim() !== "" && codePointsOf(text) <= most;
  if (!fits(title, NEWS_BOUNDS.title) || !fits(content, NEWS_BOUNDS.content) || !areDays(days)) return null;
  return { title, content, ...(days.trim() === "" ? {} : { days: Number(days) }) };
}

/** An item that the account published, as far as the operation log tells. */
export interface PublishedItem {
  readonly id: number;
  readonly title: string;
  /** `everybody`, the id of an account, or the DNA of a group. */
  readonly to: string;
  readonly publishedAt: string;
  readonly expiresAt: string;
}

/**
 * Returns what the account published and neither withdrew nor is expired, in the order of `added`. `added` and `deleted` are its
 * lines of the operation log, the newest first.
 */
export function publishedNews(
  added: readonly LogLine[],
  deleted: readonly LogLine[],
  nowMs: number,
): readonly PublishedItem[] {
  return added.flatMap((line) => {
    const { title, to, expires_at } = valuesOf(line);
    if (line.target_id === null || to === undefined || typeof expires_at !== "string") return [];
    const item: PublishedItem = {
      id: line.target_id,
      title: String(title),
      to: String(to),
      publishedAt: loggedAt(line),
      expiresAt: expires_at,
    };
    const isOver = Date.parse(expires_at) <= nowMs || deleted.some((one) => withdraws(one, line, item.to));
    return isOver ? [] : [item];
  });
}

/** Whether a deletion was that of an item, or later than it and of all news for its target. */
const withdraws = (deletion: LogLine, added: LogLine, to: string): boolean =>
  deletion.target_id === added.target_id ||
  (isLater(deletion, added) && deletion.target_id === null && String(valuesOf(deletion).of) === to);

/** Ids of lines follow time on one node alone, and times of lines are whole seconds. */
const isLater = (one: LogLine, other: LogLine): boolean =>
  one.created_at === other.created_at ? one.id > other.id : one.created_at > other.created_at;

const valuesOf = ({ details }: LogLine): Readonly<Record<string, unknown>> =>
  Object.fromEntries(readDetails(details).changes.map(({ field, after }) => [field, loggedValue(after)]));
