// A line that waits for the first request of an account, and says what it cost when it arrives.

import { Loader, Text } from "@mantine/core";
import { GAUGE_MS, useGet } from "../../api/queries.ts";
import { Amount } from "../../components/amount.tsx";
import { useWords } from "../../i18n/language.ts";
import { NEW_ACCOUNT } from "../../i18n/new-account.ts";

/** Waits for the first request of an account, and asks no more once it is there. */
export function FirstRequest({ account }: { readonly account: number }) {
  const words = useWords(NEW_ACCOUNT);
  const asked = useGet("/x-requests", { user: account, size: 50 }, { everyMs: GAUGE_MS });
  // The newest come first; a charged one goes before a refusal, which is often an attempt.
  const requests = asked.data?.requests ?? [];
  const charged = requests.findLast(({ code }) => code === null);
  const first = charged ?? requests.at(-1);
  return (
    <div role="status" className="first-request" data-arrived={charged !== undefined || undefined}>
      {first === undefined ? (
        <>
          <Loader size="xs" type="dots" aria-hidden />
          <Text size="sm" span>
            {words.waiting}
          </Text>
          <Text size="xs" c="dimmed" span>
            {words.waitingHint}
          </Text>
        </>
      ) : charged === undefined ? (
        <Text size="sm" span>
          {words.refused(first.code ?? String(first.status))}
        </Text>
      ) : (
        <Text size="sm" span>
          {words.arrived(charged.model ?? "")} ✓{" "}
          <Amount value={charged.cost} to={`/accounts/${account}/requests?open=${charged.id}`} /> USD
        </Text>
      )}
    </div>
  );
}
