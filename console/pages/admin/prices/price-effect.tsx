// What the last 30 days would have cost under prices that are not saved yet, by model.

import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import {
  compareExact,
  countText,
  type Nanos,
  percentOf,
  shareOf,
  subtractNanos,
} from "../../../api/amount.ts";
import type { ConfigAnswers } from "../../../api/answers.ts";
import { callApi } from "../../../api/call.ts";
import { CallFailed } from "../../../api/failure.ts";
import { Amount } from "../../../components/amount.tsx";
import { AskedState } from "../../../components/asked-state.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { useWords } from "../../../i18n/language.ts";
import { PRICE_WORDS } from "../../../i18n/prices.ts";
import { type PricingMap, pricingBody } from "./pricing.ts";

type Preview = ConfigAnswers["preview"];
type ModelEffect = Preview["models"][number];

/** The service makes one preview of an Owner at a time: a busy one is asked again. */
const RETRIES_MAX = 5;
const RETRY_MS = 1_500;
/** Pixels of the longest bar. */
const BAR_WIDTH = 160;

/** Asks what the last 30 days would have cost. It reads much, so the same prices are asked once. */
const usePreview = (draft: PricingMap) =>
  useQuery<Preview, CallFailed>({
    queryKey: ["price preview", JSON.stringify(draft)],
    queryFn: async ({ signal }) =>
      (await callApi({
        method: "POST",
        path: "/x-config/preview",
        body: { PRICING: pricingBody(draft) },
        isQuestion: true,
        signal,
      })) as Preview,
    staleTime: Number.POSITIVE_INFINITY,
    retry: (count, error) => count < RETRIES_MAX && isBusy(error),
    retryDelay: RETRY_MS,
  });

const isBusy = (error: unknown): boolean =>
  error instanceof CallFailed &&
  error.failure.kind === "refused" &&
  error.failure.code === "service_unavailable";

/** The effect of a draft. */
export function PriceEffect({ draft }: { readonly draft: PricingMap }) {
  const words = useWords(PRICE_WORDS).draft;
  const asked = usePreview(draft);
  return (
    <section aria-label={words.effect}>
      <Text size="sm" fw={600}>
        {words.effect}
      </Text>
      <Text size="xs" c="dimmed" mb={6}>
        {words.effectAbout}
      </Text>
      <AskedState asked={asked} rows={4}>
        {(preview) => <Effect preview={preview} />}
      </AskedState>
    </section>
  );
}

function Effect({ preview }: { readonly preview: Preview }) {
  const words = useWords(PRICE_WORDS).draft;
  const { models, total } = preview;
  const changed = models
    .filter(({ cost_now: now, cost_preview: then }) => now !== then)
    .sort((one, other) => compareExact(sizeOf(other), sizeOf(one)));
  const same = models.length - changed.length;
  return (
    <Stack gap="xs">
      <Stats>
        <Stat label={words.now}>
          <Amount value={total.cost_now} size="lg" />
        </Stat>
        <Stat label={words.preview}>
          <Amount value={total.cost_preview} size="lg" />
        </Stat>
        <Stat label={words.difference}>
          <Difference now={total.cost_now} then={total.cost_preview} size="lg" />
        </Stat>
      </Stats>
      {changed.length === 0 ? (
        <Text size="sm">{words.noEffect}</Text>
      ) : (
        <DataTable
          caption={words.effect}
          columns={columnsOf(words, highest(changed))}
          rows={changed}
          keyOf={({ model }) => model}
        />
      )}
      {changed.some(({ cost_preview: then }) => then === null) && (
        <Text size="xs" c="dimmed">
          {words.unpricedAbout}
        </Text>
      )}
      {changed.length > 0 && same > 0 && (
        <Text size="xs" c="dimmed">
          {words.same(same)}
        </Text>
      )}
    </Stack>
  );
}

/** How much a model changes; one that loses its price goes first of all. */
const sizeOf = ({ cost_now: now, cost_preview: then }: ModelEffect): bigint => {
  if (then === null) return 1n << 100n;
  return then > now ? then - now : now - then;
};

/** The highest amount of all, which is as wide as a bar can be. */
const highest = (models: readonly ModelEffect[]): bigint =>
  models
    .flatMap(({ cost_now: now, cost_preview: then }) => [now, then ?? 0n])
    .sort(compareExact)
    .at(-1) ?? 0n;

const columnsOf = (
  words: (typeof PRICE_WORDS)["en"]["draft"],
  most: bigint,
): readonly Column<ModelEffect>[] => [
  { key: "model", title: words.model, isWrapping: true, cell: ({ model }) => model },
  {
    key: "bars",
    title: words.compared,
    isMinor: true,
    cell: ({ cost_now: now, cost_preview: then }) => <Bars now={now} then={then ?? 0n} most={most} />,
  },
  {
    key: "requests",
    title: words.requests,
    isFigure: true,
    isMinor: true,
    cell: ({ requests }) => countText(requests),
  },
  { key: "now", title: words.now, isFigure: true, cell: ({ cost_now: now }) => <Amount value={now} /> },
  {
    key: "then",
    title: words.preview,
    isFigure: true,
    cell: ({ cost_preview: then }) =>
      then === null ? (
        <Text span size="sm" c="var(--console-negative)">
          {words.unpriced}
        </Text>
      ) : (
        <Amount value={then} />
      ),
  },
  {
    key: "difference",
    title: words.difference,
    isFigure: true,
    cell: ({ cost_now: now, cost_preview: then }) => then !== null && <Difference now={now} then={then} />,
  },
  {
    key: "share",
    title: "%",
    isFigure: true,
    isMinor: true,
    cell: ({ cost_now: now, cost_preview: then }) => (then === null ? "" : shareText(now, then)),
  },
];

/** Both amounts as bars, the present one above; the figures stand beside them. */
function Bars(props: { readonly now: bigint; readonly then: bigint; readonly most: bigint }) {
  const { now, then, most } = props;
  const width = (amount: bigint) => Math.max(1, BAR_WIDTH * shareOf(amount, most));
  return (
    <svg className="price-bars" width={BAR_WIDTH} height={14} aria-hidden="true">
      <rect x={0} y={0} height={6} width={width(now)} fill="var(--chart-other)" />
      <rect x={0} y={8} height={6} width={width(then)} fill="var(--chart-3)" />
    </svg>
  );
}

/** The change in percent, with its sign. */
function shareText(now: Nanos, then: Nanos): string {
  const share = percentOf(then - now, now);
  return share === null ? "" : then > now ? `+${share}` : share;
}

function Difference(props: { readonly now: Nanos; readonly then: Nanos; readonly size?: "lg" }) {
  const { now, then, size } = props;
  return (
    <Group gap={6} wrap="nowrap" component="span" display="inline-flex">
      <Amount value={subtractNanos(then, now)} isSigned {...(size === undefined ? {} : { size })} />
      {size !== undefined && now !== then && (
        <Text span size="xs" c="dimmed">
          {shareText(now, then)}
        </Text>
      )}
    </Group>
  );
}
