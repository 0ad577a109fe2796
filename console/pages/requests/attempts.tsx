// The attempts of a request at providers, one under the other, as long as they took.

import { Table, Text } from "@mantine/core";
import { countText, shareOf } from "../../api/amount.ts";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Section } from "../../components/section.tsx";
import { useWords } from "../../i18n/language.ts";
import { REQUESTS } from "../../i18n/requests.ts";
import type { Explanation } from "./known-request.ts";

type Attempt = NonNullable<Explanation["attempts"]>[number];

/** Units of the drawing, from the beginning of the first attempt to the end of the request. */
const WIDTH = 100;

/** A waterfall of attempts; `ms`: how long the whole request took. Attempts follow each other. */
export function AttemptList(props: { readonly attempts: readonly Attempt[]; readonly ms: number }) {
  const { attempts, ms } = props;
  const words = useWords(REQUESTS);
  if (attempts.length === 0) return null;
  const starts = attempts.map((_, nth) => attempts.slice(0, nth).reduce((sum, one) => sum + one.ms, 0));
  const whole = Math.max(ms, starts.at(-1)! + attempts.at(-1)!.ms, 1);
  return (
    <Section title={words.attempts}>
      <ScrollRegion label={words.attempts}>
        <Table fz="sm" verticalSpacing={2} horizontalSpacing={6}>
          <Table.Tbody>
            {attempts.map((attempt, nth) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: attempts are numbered
              <Table.Tr key={nth}>
                <Table.Td>{nth + 1}</Table.Td>
                <Table.Td>{words.place(attempt.level, attempt.key_id)}</Table.Td>
                <Table.Td>{attempt.model}</Table.Td>
                <Table.Td>
                  {attempt.status} {attempt.signal}
                </Table.Td>
                <Table.Td className="figure-cell">{words.milliseconds(countText(attempt.ms))}</Table.Td>
                <Table.Td w="35%" miw={90}>
                  <Bar
                    from={shareOf(starts[nth]!, whole)}
                    length={shareOf(attempt.ms, whole)}
                    isGood={attempt.status < 400 && attempt.status > 0}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollRegion>
      <Text size="xs" c="dimmed">
        {words.wholeTook(countText(ms))}
      </Text>
    </Section>
  );
}

function Bar(props: { readonly from: number; readonly length: number; readonly isGood: boolean }) {
  const { from, length, isGood } = props;
  return (
    <svg width="100%" height="10" viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
      <rect
        x={from * WIDTH}
        y="1"
        width={Math.max(1, length * WIDTH)}
        height="8"
        className={isGood ? "attempt-good" : "attempt-bad"}
      />
    </svg>
  );
}
