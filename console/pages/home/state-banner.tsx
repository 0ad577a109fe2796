// The state of an account above its figures: what refuses its requests now, or that its credit is used up.

import { Alert } from "@mantine/core";
import { usdText } from "../../api/amount.ts";
import { utcText } from "../../components/time.tsx";
import { useStatus } from "../../frame/status.ts";
import { HOME } from "../../i18n/home.ts";
import { useWords } from "../../i18n/language.ts";
import type { Live } from "./headlines.tsx";

/** What any request would be refused with now. */
export function StateBanner({ live }: { readonly live: Live }) {
  const words = useWords(HOME);
  const { user_api_balance: threshold } = useStatus();
  const { blocked } = live;
  if (blocked !== null) {
    const until = blocked.until === null ? words.blockedOpen : words.blocked(`${utcText(blocked.until)} UTC`);
    return (
      <Alert color="red" title={until} role="status" data-code={blocked.code}>
        {blocked.message}
      </Alert>
    );
  }
  if (live.balance.total > threshold) return null;
  return (
    <Alert color="yellow" role="status">
      {words.low(usdText(threshold))}
    </Alert>
  );
}
