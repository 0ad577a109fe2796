// A quote as a picture: from nothing to the hold, the range between, and the charge where it fell.

import { type Nanos, shareOf, usdText } from "../../api/amount.ts";
import type { Quote } from "../../api/answers.ts";
import { useWords } from "../../i18n/language.ts";
import { PLAYGROUND } from "../../i18n/playground.ts";

/** Units of the drawing. */
const WIDTH = 1000;
const MARK = 8;
/** What is narrower could not be seen. */
const BAND_MIN = 4;

/** The bar of a quote; `cost` is null until the request was charged. */
export function QuoteBar(props: { readonly quote: Quote; readonly cost: Nanos | null }) {
  const { hold, cost: range } = props.quote;
  const { cost } = props;
  const words = useWords(PLAYGROUND);
  const whole = [hold, range.max, cost ?? 0n].reduce((most, one) => (one > most ? one : most), 0n);
  const at = (amount: bigint): number => shareOf(amount, whole) * WIDTH;
  const label =
    cost === null
      ? words.rangeOf(usdText(range.min), usdText(range.max))
      : words.landed(usdText(cost), usdText(range.min), usdText(range.max));
  return (
    <svg
      width="100%"
      height="12"
      viewBox={`0 0 ${WIDTH} 12`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      className="quote-bar"
    >
      <title>{label}</title>
      <rect className="quote-hold" x="0" y="4" width={at(hold)} height="4" />
      <rect
        className="quote-range"
        x={at(range.min)}
        y="2"
        width={Math.max(BAND_MIN, at(range.max) - at(range.min))}
        height="8"
      />
      {cost !== null && (
        <rect
          className="quote-charge"
          x={Math.min(WIDTH - MARK, Math.max(0, at(cost) - MARK / 2))}
          y="0"
          width={MARK}
          height="12"
        />
      )}
    </svg>
  );
}
