// What is known of a request at first sight: its id, when, which model, what it cost.

import { Badge, Group, SimpleGrid, Stack, Text } from "@mantine/core";
import { useAccountView } from "../../api/account-view.ts";
import { countText, NO_NANOS, subtractNanos } from "../../api/amount.ts";
import { linesAddress } from "../../api/ledger-filter.ts";
import { Amount } from "../../components/amount.tsx";
import { Copy } from "../../components/copy.tsx";
import { Fact } from "../../components/fact.tsx";
import { Time } from "../../components/time.tsx";
import { useWords } from "../../i18n/language.ts";
import { REQUESTS } from "../../i18n/requests.ts";
import type { KnownRequest } from "./known-request.ts";
import { TagList } from "./tag-list.tsx";

/** The facts of a request, as far as they are known. */
export function RequestFacts({ known }: { readonly known: KnownRequest }) {
  const words = useWords(REQUESTS);
  const { base } = useAccountView();
  const { id, line, explained, row } = known;
  const request = explained?.request;
  const requestId = row?.request_id ?? request?.request_id ?? line?.request_id ?? id;
  const cost = line === null ? (request?.cost ?? row?.cost ?? null) : subtractNanos(NO_NANOS, line.amount);
  const ms = line?.ms ?? row?.ms;
  return (
    <Stack gap="xs">
      <Group gap="xs" wrap="nowrap">
        <Text size="sm" ff="monospace" className="wraps">
          {requestId}
        </Text>
        <Copy text={requestId} />
      </Group>
      <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="xs" verticalSpacing={6}>
        <Fact label={words.cost}>
          <Amount value={cost} {...(line === null ? {} : { to: linesAddress(base, { request: line.id }) })} />
        </Fact>
        <Fact label={words.model}>{explained?.decision.model ?? row?.model ?? line?.model}</Fact>
        <Fact label={words.asked}>
          {explained !== null && explained.model !== explained.decision.model && explained.model}
        </Fact>
        <Fact label={words.answeredModel}>{line?.answered_model ?? request?.answered_model}</Fact>
        <Fact label={words.at}>
          <Time at={row?.at ?? request?.at ?? line?.created_at} />
        </Fact>
        <Fact label={words.path}>{row?.path ?? request?.path ?? line?.path}</Fact>
        <Fact label={words.status}>
          {row !== null && (row.status ?? words.noAnswer)}{" "}
          {row?.code != null && <Badge color="red">{row.code}</Badge>}
        </Fact>
        <Fact label={words.took}>{ms !== undefined && words.milliseconds(countText(ms))}</Fact>
        <Fact label={words.tokens}>
          {line?.prompt_tokens !== undefined &&
            `${countText(line.prompt_tokens)} → ${countText(line.completion_tokens ?? 0)}`}
        </Fact>
        <Fact label={words.cachedReasoning}>
          {line?.cached !== undefined && `${countText(line.cached)} · ${countText(line.reasoning ?? 0)}`}
        </Fact>
        <Fact label={words.basis}>{line?.basis !== undefined && basisText(line.basis, words)}</Fact>
        <Fact label={words.key}>{line?.api_key_name}</Fact>
        <Fact label={words.tags}>
          {line?.tags !== undefined && Object.keys(line.tags).length > 0 && <TagList tags={line.tags} />}
        </Fact>
      </SimpleGrid>
    </Stack>
  );
}

const basisText = (basis: string, { bases }: (typeof REQUESTS)["en"]): string =>
  Object.hasOwn(bases, basis) ? bases[basis as keyof typeof bases] : basis;
