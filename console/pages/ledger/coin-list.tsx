// Entries of credit in spending order: a coin as large as its share, what it is, and what becomes of it at the present pace.

import { Text } from "@mantine/core";
import { compareExact, type Nanos, shareOf, shortUsd, toNanos, usdText } from "../../api/amount.ts";
import type { Coin } from "../../api/credits.ts";
import { utcText } from "../../components/time.tsx";
import { useLanguage, useWords } from "../../i18n/language.ts";
import { LEDGER } from "../../i18n/ledger.ts";
import { dayText } from "./dates.ts";

/** Credit that expires within so many days is marked. */
const SOON_DAYS = 7;
/** Points of the smallest and the largest coin. */
const [RADIUS_MIN, RADIUS_MAX] = [5, 15];

/** The entries; `pace`: what was spent in the last days; null: nothing, so that there is no forecast. */
export function CoinList(props: {
  readonly coins: readonly Coin[];
  readonly nowMs: number;
  readonly pace: Nanos | null;
}) {
  const { coins, nowMs, pace } = props;
  const words = useWords(LEDGER);
  const language = useLanguage();
  const today = new Date(nowMs).toISOString();
  const greatest =
    coins
      .map(({ amount }) => amount)
      .toSorted(compareExact)
      .at(-1) ?? 0n;
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {words.order} {pace !== null && words.pace(`${shortUsd(pace)} USD`)}
      </Text>
      <ol className="coins">
        {coins.map((coin, nth) => {
          const { amount, expires_at, daysLeft } = coin;
          // The area of a coin is its amount.
          const radius = Math.max(RADIUS_MIN, RADIUS_MAX * Math.sqrt(shareOf(amount, greatest)));
          return (
            <li
              // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity, and may be equal
              key={nth}
              data-soon={daysLeft < SOON_DAYS || undefined}
              data-coin={expires_at}
            >
              <svg width={32} height={32} aria-hidden="true">
                <circle cx={16} cy={16} r={radius} />
              </svg>
              <div>
                <Text size="sm" title={`${utcText(expires_at)} UTC`}>
                  {words.expires(`${usdText(amount)} USD`, dayText(expires_at, language, today))}
                </Text>
                <Text size="xs" c="dimmed">
                  {words.daysLeft(daysLeft)}
                  {pace !== null && ` · ${fateOf(coin, words)}`}
                </Text>
              </div>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

const CENT = 10_000_000n;

/** What becomes of an entry, to the cent. */
function fateOf({ amount, unspent }: Coin, words: (typeof LEDGER)["en"]): string {
  if (unspent === null || unspent < CENT) return words.willBeSpent;
  if (unspent === amount) return words.notReached;
  return words.willExpire(shortUsd(toNanos((unspent / CENT) * CENT)));
}
