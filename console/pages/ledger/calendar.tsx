// The days on which credit expires, month by month. Months without such a day are left out.

import { Text } from "@mantine/core";
import { usdText } from "../../api/amount.ts";
import type { CreditEntry } from "../../api/credits.ts";
import { utcDay } from "../../api/days.ts";
import { useLanguage, useWords } from "../../i18n/language.ts";
import { LEDGER } from "../../i18n/ledger.ts";
import { dayText, monthText, weekdayNames } from "./dates.ts";
import { type ExpiryMonth, expiryMonths } from "./expiry-months.ts";

/** So many months are drawn; the list beside them has every entry. */
const MONTHS_MAX = 6;

/** A calendar of what expires. */
export function ExpiryCalendar(props: { readonly entries: readonly CreditEntry[]; readonly nowMs: number }) {
  const { entries, nowMs } = props;
  const words = useWords(LEDGER);
  const months = expiryMonths(entries);
  const today = utcDay(nowMs);
  return (
    <div className="expiry-calendar">
      {months.slice(0, MONTHS_MAX).map((month) => (
        <Month key={month.month} month={month} today={today} />
      ))}
      {months.length > MONTHS_MAX && (
        <Text size="xs" c="dimmed">
          {words.moreMonths(months.length - MONTHS_MAX)}
        </Text>
      )}
    </div>
  );
}

function Month({ month: { month, weeks, days }, today }: { month: ExpiryMonth; today: string }) {
  const words = useWords(LEDGER);
  const language = useLanguage();
  const cell = (day: number, place: number) => {
    if (day === 0) return <td key={`outside ${place}`} />;
    const date = `${month}-${String(day).padStart(2, "0")}`;
    const expiring = days.get(day);
    const said =
      expiring && words.expiresOn(`${usdText(expiring.amount)} USD`, dayText(date, language, today));
    return (
      <td
        key={day}
        {...(date === today ? { "data-today": true } : {})}
        {...(expiring && { "data-expires": date, title: said })}
      >
        {day}
      </td>
    );
  };
  return (
    <table>
      <caption>{monthText(month, language)}</caption>
      <thead>
        <tr>
          {weekdayNames(language).map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {weeks.map((week) => (
          <tr key={week.find((day) => day > 0)}>{week.map(cell)}</tr>
        ))}
      </tbody>
    </table>
  );
}
