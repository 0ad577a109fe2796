// The state of an account above its figures: what refuses all of its requests now, until when, and what ends that; and models whose
// limits are reached. The same banner is on the Home of an account and on its page for those above it.

import { Alert, Text } from "@mantine/core";
import { useAccountView } from "../../api/account-view.ts";
import { utcText } from "../../components/time.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { STATE } from "../../i18n/state.ts";
import type { Live } from "./headlines.tsx";
import { accountStateOf, reachedModels } from "./state-of.ts";

/** What any request would be refused with now; nothing where none would be. */
export function StateBanner({ live }: { readonly live: Live }) {
  const { blocked } = live;
  if (blocked !== null) return <Blocked blocked={blocked} />;
  const reached = reachedModels(live);
  return reached.length === 0 ? null : <ModelsReached reached={reached} />;
}

function Blocked({ blocked }: { readonly blocked: NonNullable<Live["blocked"]> }) {
  const { code, message, until } = blocked;
  const words = useWords(STATE);
  const { user_api_balance: threshold } = useStatus();
  const isOwn = useAccountView().user === null;
  const state = accountStateOf(code);
  const known = state === null ? null : words.of[state];
  const end = until === null ? words.open : words.until(`${utcText(until)} UTC`);
  return (
    <Alert
      color="red"
      title={known === null ? end : known.title(threshold)}
      role="status"
      data-code={code}
      data-until={until ?? undefined}
    >
      <Text size="sm">{known === null ? message : `${end} ${isOwn ? known.own : known.above}`}</Text>
    </Alert>
  );
}

function ModelsReached({ reached }: { readonly reached: ReturnType<typeof reachedModels> }) {
  const words = useWords(STATE);
  return (
    <Alert color="yellow" title={words.models} role="status">
      {reached.map(({ model, name, resetsAt }) => (
        <Text key={`${model} ${name}`} size="sm">
          {words.model(model, name.toUpperCase())}{" "}
          {resetsAt !== null && words.resets(`${utcText(resetsAt)} UTC`)}
        </Text>
      ))}
    </Alert>
  );
}
