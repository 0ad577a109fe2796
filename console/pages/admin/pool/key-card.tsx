// One provider key on the page Pool: how it is, what it did in the last hour, and what can be done with it.

import { Anchor, Button, Group, Text } from "@mantine/core";
import { memo } from "react";
import { Link } from "wouter";
import { countText } from "../../../api/amount.ts";
import { useWrite } from "../../../api/writes.ts";
import { Sparkline } from "../../../charts/lines.tsx";
import { Amount } from "../../../components/amount.tsx";
import { FailureNotice } from "../../../components/failure-notice.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { ProviderKeyState } from "./key-state.tsx";
import { type TestedKey, testOf } from "./key-test.ts";
import { hostOf, type KeyRow } from "./levels.ts";

/** A key. It is drawn again only when its row has changed, because a pool may have a thousand. */
export const KeyCard = memo(function KeyCard({ row }: { readonly row: KeyRow }) {
  const words = useWords(POOL);
  const name = row.Name || words.unnamed(row.ID);
  return (
    <article className="key-card" data-key={row.ID} data-state={row.State} aria-label={name}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Anchor component={Link} href={`/admin/pool/${row.ID}`} size="sm" fw={600} truncate title={name}>
          {name}
        </Anchor>
        <Text size="xs" c="dimmed" truncate title={row.Provider}>
          {hostOf(row.Provider)} #{row.ID}
        </Text>
      </Group>
      <ProviderKeyState state={row.State} until={row.Until} reason={row.Reason} />
      <LastHour row={row} />
      <KeyActions row={row} />
    </article>
  );
});

function LastHour({ row }: { readonly row: KeyRow }) {
  const words = useWords(POOL);
  const { attempts, failures, p50_ms: p50, p95_ms: p95 } = row.LastHour;
  const name = row.Name || words.unnamed(row.ID);
  return (
    <>
      <Group justify="space-between" gap="xs" wrap="nowrap" mt={2}>
        {attempts === 0 ? (
          <Text size="xs" c="dimmed">
            {words.noAttempts}
          </Text>
        ) : (
          <>
            <Text size="xs" className="figure">
              {words.attempts(countText(attempts))}
              {failures > 0 && (
                <Text span inherit c="var(--console-negative)">
                  {" "}
                  · {words.failed(countText(failures))}
                </Text>
              )}
            </Text>
            <Sparkline label={words.perMinute(name, countText(attempts))} values={row.LastHour.per_minute} />
          </>
        )}
      </Group>
      <dl className="key-figures">
        {p50 !== null && p95 !== null && (
          <Figure name={words.latency}>
            {countText(p50)} / {words.ms(countText(p95))}
          </Figure>
        )}
        {row.InFlight > 0 && <Figure name={words.inFlight}>{countText(row.InFlight)}</Figure>}
        {row.CostToday > 0n && (
          <Figure name={words.today}>
            <Amount value={row.CostToday} />
          </Figure>
        )}
      </dl>
    </>
  );
}

function Figure(props: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd className="figure">{props.children}</dd>
    </div>
  );
}

/** What can be done with a key as it is. */
function KeyActions({ row }: { readonly row: KeyRow }) {
  const words = useWords(POOL);
  const change = useWrite();
  const test = useWrite<TestedKey>();
  const put = (body: object) => void change.send({ method: "PUT", path: `/x-keys/${row.ID}`, body });
  const { failure } = test.failure === null ? change : test;
  const isOut = row.State === "sleeping" || row.State === "resting";
  const retry = test.failure === null ? change : test;
  return (
    <>
      <Group gap={4} mt={4}>
        {isOut && (
          <Button size="compact-xs" onClick={() => put({ Sleep: false })} loading={change.isRunning}>
            {words.wake}
          </Button>
        )}
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => void test.send(testOf(row.ID))}
          loading={test.isRunning}
        >
          {words.test}
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => put({ Status: !row.Status })}
          disabled={change.isRunning}
        >
          {row.Status ? words.disable : words.enable}
        </Button>
      </Group>
      <TestOutcome tested={test.answer} />
      {failure !== null && (
        <FailureNotice failure={failure} repeat={{ run: () => void retry.send(retry.last!), isSafe: true }} />
      )}
    </>
  );
}

/** What came of a test, with the advice of the service. */
export function TestOutcome({ tested }: { readonly tested: TestedKey | null }) {
  const words = useWords(POOL);
  if (tested === null) return null;
  const { success, status, latency_ms: ms, model, message, url } = tested;
  return (
    <Text
      size="xs"
      role="status"
      className="text-block"
      title={url}
      c={success ? "var(--console-positive)" : "var(--console-negative)"}
    >
      {success ? words.works(countText(ms), model) : `${words.fails(status)}. ${message}`}
    </Text>
  );
}
