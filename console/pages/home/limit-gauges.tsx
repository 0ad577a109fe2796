// How far the limits of an account are used, requests under way included.

import { Stack } from "@mantine/core";
import { countText, nanosOf, shareOf, usdText } from "../../api/amount.ts";
import { Empty } from "../../components/empty.tsx";
import { Section } from "../../components/section.tsx";
import { LimitBar } from "../../components/stat.tsx";
import { utcText } from "../../components/time.tsx";
import { HOME } from "../../i18n/home.ts";
import { useWords } from "../../i18n/language.ts";
import type { Live } from "./headlines.tsx";

/** Limits that are amounts of money; the others count requests or tokens. */
const IS_MONEY = /_limit$/;

/** The limits that are set, each with its use. */
export function LimitGauges({ live }: { readonly live: Live }) {
  const words = useWords(HOME);
  return (
    <Section title={words.limits}>
      {live.windows.length === 0 ? (
        <Empty text={words.noLimits} />
      ) : (
        <Stack gap="xs">
          {live.windows.map(({ scope, name, model, limit, used, resets_at }) => {
            const isMoney = IS_MONEY.test(name);
            const text = (figure: typeof used) => (isMoney ? usdText(nanosOf(figure)) : countText(figure));
            return (
              <LimitBar
                key={`${scope} ${model} ${name}`}
                label={model === undefined ? name : `${model} ${name}`}
                share={shareOf(used, limit)}
                used={words.of(text(used), text(limit))}
                detail={resets_at === null ? undefined : words.resets(`${utcText(resets_at)} UTC`)}
              />
            );
          })}
        </Stack>
      )}
    </Section>
  );
}
