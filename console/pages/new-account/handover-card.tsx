// The handover card of an account that was just made: its key, shown this once, code for both SDKs with a model that it may call,
// and a line that waits for its first request. The key stands in the memory of this page alone; leaving the page forgets it.

import { Button, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { AccountWrites, Answers } from "../../api/answers.ts";
import { callApi } from "../../api/call.ts";
import type { CallFailed } from "../../api/failure.ts";
import { isRoot } from "../../api/role.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { SecretOnce } from "../../components/copy.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { ModelCode } from "../../components/request-code.tsx";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { NEW_ACCOUNT } from "../../i18n/new-account.ts";
import { SHELL } from "../../i18n/shell.ts";
import { FirstRequest } from "./first-request.tsx";

type Models = Answers["/dashboard/models"];

/** The card; `onAnother` goes back to an empty form. */
export function HandoverCard(props: {
  readonly added: AccountWrites["added"];
  readonly onAnother: () => void;
}) {
  const { ID, SecretKey, Updates } = props.added.User;
  const words = useWords(NEW_ACCOUNT);
  const shell = useWords(SHELL);
  return (
    <Page
      title={words.made(Updates.Name)}
      about={words.handOver}
      actions={
        <>
          <Button variant="default" onClick={() => print()}>
            {shell.print}
          </Button>
          <Button variant="default" onClick={props.onAnother}>
            {words.another}
          </Button>
          <Button component={Link} href={`/accounts/${ID}`}>
            {words.open}
          </Button>
        </>
      }
    >
      <Section title={words.card}>
        <Stack gap="sm">
          <Text size="sm" component="div" className="text-block">
            {words.account}: <b>{Updates.Name}</b> · {Updates.Email} · {words.address}:{" "}
            <b>{location.origin}</b>
          </Text>
          <SecretOnce secret={SecretKey} name={Updates.Name} />
          <Snippets secret={SecretKey} />
          <FirstRequest account={ID} />
        </Stack>
      </Section>
    </Page>
  );
}

/** Code for a first request, with the models that the new key lists for itself. */
function Snippets({ secret }: { readonly secret: string }) {
  const words = useWords(NEW_ACCOUNT);
  const me = useStatus();
  // The new account says itself what it may call. Its key is no part of the question's name, which outlives this page.
  const asked = useQuery<Models, CallFailed>({
    queryKey: ["/dashboard/models", "of the new account"],
    queryFn: async ({ signal }) =>
      (await callApi({ method: "GET", path: "/dashboard/models", key: secret, signal })) as Models,
    gcTime: 0,
  });
  return (
    <AskedState asked={asked}>
      {({ models }) =>
        models.length === 0 ? (
          <Empty text={`${words.noModels} ${isRoot(me) ? words.noModelsOwner : words.noModelsOther}`} />
        ) : (
          <ModelCode secret={secret} models={models} />
        )
      }
    </AskedState>
  );
}
