// Why a request was refused, and what would let it pass: the limit that its code speaks of, how much of it is used, when it is free
// again; or the list that it is not on; and whether the same request would be admitted now.

import { Alert, Stack, Text } from "@mantine/core";
import { useAccountGet } from "../../api/account-view.ts";
import { type Billionths, shareOf } from "../../api/amount.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { limitText, RouteDecision } from "../../components/explained-route.tsx";
import { Advice } from "../../components/failure-notice.tsx";
import { Section } from "../../components/section.tsx";
import { LimitBar } from "../../components/stat.tsx";
import { useWords } from "../../i18n/language.ts";
import { REQUESTS } from "../../i18n/requests.ts";
import { askedOf, type KnownRequest, refusalOf } from "./known-request.ts";
import { type LimitRow, limitsBehind, listBehind, secondsUntil } from "./refusal.ts";

/** The reason of a refusal; nothing for a request that was answered. */
export function WhyRefused({ known }: { readonly known: KnownRequest }) {
  const words = useWords(REQUESTS);
  const refusal = refusalOf(known);
  if (refusal === null) return null;
  return (
    <Section title={words.why}>
      <Stack gap="xs">
        <Alert color="red" title={refusal.code} data-code={refusal.code}>
          {refusal.message !== null && <Text size="sm">{refusal.message}</Text>}
          <Advice code={refusal.code} />
        </Alert>
        <ListBehind code={refusal.code} />
        <Now known={known} code={refusal.code} />
      </Stack>
    </Section>
  );
}

/** The list of the account that the refusal speaks of. */
function ListBehind({ code }: { readonly code: string }) {
  const words = useWords(REQUESTS);
  const live = useAccountGet("live", {}, { everyMs: 0 });
  const list = live.data && listBehind(code, live.data.restrictions);
  if (!list) return null;
  return (
    <Text size="sm" className="text-block">
      {list.items.length === 0
        ? words.openList(words.lists[list.name])
        : `${words.lists[list.name]}: ${list.items.join(", ")}`}
    </Text>
  );
}

/** What the same request would meet now. */
function Now({ known, code }: { readonly known: KnownRequest; readonly code: string }) {
  const { model, ...where } = askedOf(known);
  const asked = useAccountGet("explain", { model: model ?? "", ...where }, { enabled: model !== null });
  if (model === null) return null;
  return (
    <AskedState asked={asked}>
      {(route) => (
        <Stack gap="xs">
          {limitsBehind(code, route.limits).map((row) => (
            <UsedLimit key={row.scope} row={row} />
          ))}
          <RouteDecision route={route} />
        </Stack>
      )}
    </AskedState>
  );
}

function UsedLimit({ row }: { readonly row: LimitRow }) {
  const words = useWords(REQUESTS);
  const { scope, name, limit, remaining, resets_at } = row;
  const used = (limit > remaining ? limit - remaining : 0n) as Billionths;
  const resets = resets_at === null ? words.noReset : words.freeIn(secondsUntil(resets_at, Date.now()));
  return (
    <LimitBar
      label={`${words.scopes[scope]} ${name}`}
      share={name === "balance" ? 0 : shareOf(used, limit)}
      used={words.limitLeft(limitText(name, remaining), limitText(name, limit))}
      detail={resets}
    />
  );
}
