// The last hour: headline figures, attempts by the minute and Level, and the keys that were tried, those that fail most first.

import { Anchor, Button, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { countText, percentOf } from "../../../api/amount.ts";
import { Sparkline } from "../../../charts/lines.tsx";
import { StackedBars } from "../../../charts/stacked-bars.tsx";
import { useNow } from "../../../components/countdown.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { utcText } from "../../../components/time.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { TRAFFIC } from "../../../i18n/traffic.ts";
import { ProviderKeyState } from "../pool/key-state.tsx";
import { isUsable, type KeyRow } from "../pool/levels.ts";
import { hourOf, MINUTES, ratesOf, totalsOf, triedKeys } from "./key-rates.ts";

const MINUTE_MS = 60_000;
/** Keys that are shown at first. */
const SHOWN = 20;

/** Attempts, failures, requests in flight and usable keys. */
export function HourFigures({ keys }: { readonly keys: readonly KeyRow[] }) {
  const words = useWords(TRAFFIC);
  const { noData } = useWords(SHELL);
  const { attempts, failures, inFlight } = hourOf(keys);
  const last = totalsOf(ratesOf(keys)).at(-2) ?? 0;
  return (
    <Stats>
      <Stat label={words.attempts} detail={words.lastHour}>
        {countText(attempts)}
      </Stat>
      <Stat label={words.failures} detail={words.lastHour}>
        {countText(failures)}
      </Stat>
      <Stat label={words.failureShare} detail={words.ofAttempts}>
        {percentOf(BigInt(failures), BigInt(attempts)) ?? noData}
      </Stat>
      <Stat label={words.perMinute} detail={words.lastMinute}>
        {countText(last)}
      </Stat>
      <Stat label={words.inFlight} detail={words.now}>
        {countText(inFlight)}
      </Stat>
      <Stat label={words.usableKeys} detail={words.now}>
        {words.of(countText(keys.filter(isUsable).length), countText(keys.length))}
      </Stat>
    </Stats>
  );
}

/** Attempts by the minute, a colour for each Level. */
export function Rate({ keys }: { readonly keys: readonly KeyRow[] }) {
  const words = useWords(TRAFFIC);
  const { level } = useWords(POOL);
  const { noData } = useWords(SHELL);
  // The minute that runs is the last column.
  const thisMinute = Math.floor(useNow() / MINUTE_MS);
  const rates = ratesOf(keys);
  const columns = Array.from({ length: MINUTES }, (_, nth) => {
    const at = (thisMinute - MINUTES + 1 + nth) * MINUTE_MS;
    return { key: String(at), label: utcText(at, true).slice(11) };
  });
  return (
    <StackedBars
      label={words.rate}
      columns={columns}
      series={rates.map((rate) => ({ key: String(rate.level), label: level(rate.level) }))}
      values={rates.map(({ perMinute }) => perMinute)}
      totals={totalsOf(rates)}
      text={(count) => words.attemptsOf(countText(count))}
      tickText={(count) => countText(count)}
      noData={noData}
      height={150}
    />
  );
}

/** The keys that were tried. */
export function FailingKeys({ keys }: { readonly keys: readonly KeyRow[] }) {
  const words = useWords(TRAFFIC);
  const pool = useWords(POOL);
  const [shown, setShown] = useState(SHOWN);
  const rows = triedKeys(keys);
  const columns: readonly Column<KeyRow>[] = [
    {
      key: "key",
      title: words.key,
      cell: ({ ID, Name }) => (
        <Anchor component={Link} href={`/admin/pool/${ID}`} size="sm" className="cut" title={Name}>
          {Name || pool.unnamed(ID)}
        </Anchor>
      ),
    },
    { key: "level", title: words.level, isFigure: true, isMinor: true, cell: ({ Level }) => Level },
    {
      key: "attempts",
      title: words.attempts,
      isFigure: true,
      isMinor: true,
      cell: ({ LastHour }) => countText(LastHour.attempts),
    },
    {
      key: "failures",
      title: words.failures,
      isFigure: true,
      cell: ({ LastHour: { failures } }) => (
        <Text span inherit {...(failures > 0 ? { c: "var(--console-negative)" } : {})}>
          {countText(failures)}
        </Text>
      ),
    },
    {
      ...{ key: "share", title: words.share, isFigure: true, isMinor: true },
      cell: ({ LastHour: { failures, attempts } }) => percentOf(BigInt(failures), BigInt(attempts)),
    },
    {
      ...{ key: "latency", title: words.latency, isFigure: true, isMinor: true },
      cell: ({ LastHour: { p50_ms: p50, p95_ms: p95 } }) =>
        p50 === null || p95 === null ? words.noSuccess : `${countText(p50)} / ${countText(p95)}`,
    },
    {
      ...{ key: "line", title: words.byMinute, isMinor: true },
      cell: ({ ID, Name, LastHour }) => (
        <Sparkline
          label={pool.perMinute(Name || pool.unnamed(ID), countText(LastHour.attempts))}
          values={LastHour.per_minute}
        />
      ),
    },
    {
      key: "state",
      title: words.state,
      cell: ({ State, Until, Reason }) => <ProviderKeyState state={State} until={Until} reason={Reason} />,
    },
  ];
  return (
    <>
      <DataTable caption={words.byKey} columns={columns} rows={rows.slice(0, shown)} keyOf={({ ID }) => ID} />
      {rows.length > shown && (
        <Button variant="default" mt="xs" onClick={() => setShown(shown + 10 * SHOWN)}>
          {words.showAll(countText(rows.length - shown))}
        </Button>
      )}
    </>
  );
}
