// How far a limit is used at this moment, requests under way included.

import { type Billionths, countText, nanosOf, shareOf, usdText } from "../api/amount.ts";
import type { Answers } from "../api/answers.ts";
import { isDollarFigure } from "../api/exact-json.ts";
import { useWords } from "../i18n/language.ts";
import { LIVE_LIMITS } from "../i18n/live-limits.ts";
import { LimitBar } from "./stat.tsx";
import { utcText } from "./time.tsx";

/** A limit that is set, with what counts against it. */
export type LiveLimit = Answers["/dashboard/live"]["windows"][number];

/** The bar of a limit; one of a model or an API key says so. */
export function LiveLimitBar({ row }: { readonly row: LiveLimit }) {
  const words = useWords(LIVE_LIMITS);
  const { scope, name, model, limit, used, resets_at } = row;
  const text = (figure: Billionths) => (isDollarFigure(name) ? usdText(nanosOf(figure)) : countText(figure));
  const about = words.names[name as keyof typeof words.names] ?? name;
  return (
    <LimitBar
      label={[scope === "api_key" ? words.ofKey : model, about].filter(Boolean).join(" · ")}
      share={shareOf(used, limit)}
      used={words.of(text(used), text(limit))}
      detail={resets_at === null ? undefined : words.resets(`${utcText(resets_at)} UTC`)}
    />
  );
}
