// Days and months in words, in UTC and in the language of the pages.

import { DAY_MS } from "../../api/days.ts";
import type { Language } from "../../i18n/language.ts";

const LOCALES = { en: "en-GB", zh: "zh-CN" } as const satisfies Record<Language, string>;

const written = (language: Language, at: Date, how: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(LOCALES[language], { timeZone: "UTC", ...how }).format(at);

/** Writes a day such as `3 January`, with its year where that is not the year of `today`. Both begin with YYYY-MM-DD. */
export function dayText(date: string, language: Language, today: string): string {
  const year = date.slice(0, 4) === today.slice(0, 4) ? {} : ({ year: "numeric" } as const);
  return written(language, new Date(date.slice(0, 10)), { day: "numeric", month: "long", ...year });
}

/** Writes a month such as `January 2027`. */
export const monthText = (month: string, language: Language): string =>
  written(language, new Date(`${month}-01`), { month: "long", year: "numeric" });

/** Monday, 4 January 2027, and the days after it. */
const MONDAY_MS = Date.UTC(2027, 0, 4);

/** Returns short names of the days of a week, Monday first. */
export const weekdayNames = (language: Language): readonly string[] =>
  Array.from({ length: 7 }, (_, day) =>
    written(language, new Date(MONDAY_MS + day * DAY_MS), {
      weekday: language === "zh" ? "narrow" : "short",
    }).slice(0, 2),
  );
