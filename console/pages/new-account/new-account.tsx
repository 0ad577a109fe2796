// New account: a form below the signed-in account, what it takes over, what it costs; then the handover card with its key.

import { SimpleGrid, Stack } from "@mantine/core";
import { useState } from "react";
import { useSearch } from "wouter";
import { type FieldTexts, readChanged, type TextField } from "../../api/account-fields.ts";
import type { Nanos } from "../../api/amount.ts";
import type { AccountWrites } from "../../api/answers.ts";
import { useGet } from "../../api/queries.ts";
import { isRoot } from "../../api/role.ts";
import { useWrite } from "../../api/writes.ts";
import { AccountField } from "../../components/account-field.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { Section } from "../../components/section.tsx";
import { WriteForm } from "../../components/write-form.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { NEW_ACCOUNT } from "../../i18n/new-account.ts";
import { SHELL } from "../../i18n/shell.ts";
import { Costs } from "./costs.tsx";
import { HandoverCard } from "./handover-card.tsx";
import { Inherited } from "./inherited.tsx";
import { nameFault } from "./name-fault.ts";
import { WhoFields } from "./who-fields.tsx";

type Added = AccountWrites["added"];

const LIMITS = ["HardLimit", "SoftLimit", "AutoQuota", "RPM", "RPH", "RPD", "TPM", "TPH", "TPD"] as const;
const ACCESS = ["AllowModels", "Resources", "AllowIPs"] as const;
const MORE = ["Alias", "BillingEmail", "Rates"] as const;

/** The page of a new account. */
export default function NewAccount() {
  const words = useWords(NEW_ACCOUNT);
  const { page } = useWords(SHELL);
  const me = useStatus();
  const [added, setAdded] = useState<Added | null>(null);
  const parent = new URLSearchParams(useSearch()).get("parent");
  if (added !== null) return <HandoverCard added={added} onAnother={() => setAdded(null)} />;
  const isElsewhere = parent !== null && parent !== "" && parent !== String(me.id);
  return (
    <Page title={page.newAccount} about={isRoot(me) ? words.owner : words.below(me.name)}>
      {isElsewhere ? <Empty text={words.elsewhere} /> : <NewAccountForm onAdded={setAdded} />}
    </Page>
  );
}

function NewAccountForm({ onAdded }: { readonly onAdded: (added: Added) => void }) {
  const words = useWords(NEW_ACCOUNT);
  const me = useStatus();
  const info = useGet("/dashboard/info", {}, { everyMs: 0 });
  const writing = useWrite<Added>();
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [texts, setTexts] = useState<FieldTexts>({});
  const { body, unreadable } = readChanged(texts);
  const credit = (body.CreditGranted as Nanos | undefined) ?? null;
  const isReady =
    name !== "" &&
    nameFault(name) === null &&
    email.trim() !== "" &&
    credit !== null &&
    unreadable.size === 0;
  const all = {
    ...{ Name: name, Email: email.trim() },
    ...body,
    ...(isRoot(me) ? { isOwner: true } : {}),
  };
  const field = (one: TextField) => (
    <AccountField
      key={one}
      field={one}
      text={texts[one] ?? ""}
      onText={(text) => setTexts({ ...texts, [one]: text })}
      isUnreadable={unreadable.has(one)}
      isRequired={one === "CreditGranted"}
    />
  );
  return (
    <WriteForm
      writing={writing}
      write={isReady ? { method: "POST", path: "/x-users", body: all } : null}
      submit={words.create}
      onDone={onAdded}
    >
      <div className="form-and-side">
        <Stack gap="sm">
          <Section title={words.who}>
            <WhoFields
              {...{ name, setName, email, setEmail, credit: field("CreditGranted"), days: field("Days") }}
            />
          </Section>
          <Section title={words.limits}>
            <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="xs">
              {LIMITS.map(field)}
            </SimpleGrid>
          </Section>
          <Section title={words.access}>
            <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="xs">
              {ACCESS.map(field)}
            </SimpleGrid>
          </Section>
          <Section title={words.more}>
            <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="xs">
              {MORE.map(field)}
            </SimpleGrid>
          </Section>
        </Stack>
        <Stack gap="sm">
          <Costs credit={credit} />
          <AskedState asked={info}>
            {(known) => <Inherited info={known} rates={texts.Rates ?? ""} />}
          </AskedState>
        </Stack>
      </div>
    </WriteForm>
  );
}
