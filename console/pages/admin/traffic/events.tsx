// Sleeps and switch-overs: a time line of the chosen days, and every event as a row.

import { Anchor, SegmentedControl, Text } from "@mantine/core";
import { Link } from "wouter";
import { DAY_MS } from "../../../api/days.ts";
import { useGet } from "../../../api/queries.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { useNow } from "../../../components/countdown.tsx";
import { type Column, DataTable } from "../../../components/data-table.tsx";
import { Empty } from "../../../components/empty.tsx";
import { Pager } from "../../../components/pager.tsx";
import { Section } from "../../../components/section.tsx";
import { Time } from "../../../components/time.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { TRAFFIC } from "../../../i18n/traffic.ts";
import { useKeyNames } from "../pool/pool-keys.ts";
import { TimeLine } from "./time-line.tsx";
import type { PoolEvent } from "./time-spans.ts";
import { TRAFFIC_VIEW, type TrafficProps } from "./traffic-view.ts";

const CHOICES = ["1", "7", "30"] as const;
const MINUTE_MS = 60_000;
/** Events on the time line, and rows of a page of the list. */
const [LINE_MAX, ROWS] = [1_000, 20];
const LOOK_MS = 10_000;

/** The section. */
export function Events({ view, change }: TrafficProps) {
  const words = useWords(TRAFFIC);
  // It moves once a minute, so that the question stays the same meanwhile.
  const untilMs = Math.ceil((useNow() + 1) / MINUTE_MS) * MINUTE_MS;
  // An address may have anything in place of the days.
  const days = CHOICES.find((one) => one === view.days) ?? TRAFFIC_VIEW.days;
  const fromMs = untilMs - Number(days) * DAY_MS;
  const from = new Date(fromMs).toISOString();
  const line = useGet("/x-events", { from, page: 1, size: LINE_MAX }, { everyMs: LOOK_MS });
  const names = useKeyNames();
  const { unnamed } = useWords(POOL);
  const nameOf = (key: number): string => names.get(key) ?? unnamed(key);
  return (
    <Section
      title={words.events}
      aside={
        <SegmentedControl
          value={days}
          onChange={(chosen) => change({ days: chosen })}
          aria-label={words.period}
          data={CHOICES.map((value) => ({ value, label: words.days(value) }))}
        />
      }
    >
      <AskedState asked={line} rows={4}>
        {({ events }) =>
          events.length === 0 ? (
            <Empty text={words.noEvents(days)} />
          ) : (
            <TimeLine events={events} fromMs={fromMs} untilMs={untilMs} nameOf={nameOf} />
          )
        }
      </AskedState>
      <EventList view={view} change={change} nameOf={nameOf} />
    </Section>
  );
}

/** All events that the service keeps, the newest first. */
function EventList(props: TrafficProps & { readonly nameOf: (key: number) => string }) {
  const { view, change, nameOf } = props;
  const words = useWords(TRAFFIC);
  const pool = useWords(POOL);
  const asked = useGet("/x-events", { page: view.page, size: ROWS });
  const columns: readonly Column<PoolEvent>[] = [
    { key: "at", title: words.at, cell: ({ at }) => <Time at={at} /> },
    { key: "what", title: words.what, cell: ({ type }) => words.types[type] },
    {
      key: "where",
      title: words.where,
      cell: ({ type, key_id: key, level, to_level: to }) =>
        type === "switch_over" || key === undefined ? (
          to === undefined ? (
            `${pool.level(level)} · ${pool.noBackup}`
          ) : (
            `${pool.level(level)} → ${pool.level(to)}`
          )
        ) : (
          <Anchor component={Link} href={`/admin/pool/${key}`} size="sm" className="cut">
            {nameOf(key)}
          </Anchor>
        ),
    },
    { key: "why", title: words.why, cell: ({ reason }) => pool.reasons[reason] ?? reason },
    {
      ...{ key: "until", title: words.until, isMinor: true },
      cell: ({ until }) => until !== undefined && <Time at={until} />,
    },
  ];
  return (
    <AskedState asked={asked} rows={6}>
      {(list) =>
        list.events.length > 0 && (
          <>
            <Text size="xs" c="dimmed" mt="sm">
              {words.allEvents}
            </Text>
            <DataTable
              caption={words.allEvents}
              columns={columns}
              rows={list.events}
              keyOf={({ at, type, level, key_id: key }) => `${at} ${type} ${level} ${key ?? ""}`}
            />
            <Pager list={list} shown={list.events.length} onPage={(page) => change({ page: String(page) })} />
          </>
        )
      }
    </AskedState>
  );
}
