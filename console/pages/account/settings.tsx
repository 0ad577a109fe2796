// Settings of an account: what an account above may set of it, part by part. What the signed-in one may not set is not there.

import { Stack, Title } from "@mantine/core";
import { maySet } from "../../api/account-fields.ts";
import { relationTo } from "../../api/accounts.ts";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { useWords } from "../../i18n/language.ts";
import { AccessForm } from "./access-form.tsx";
import { useAccountRecord } from "./account-context.ts";
import { DeleteAccount } from "./delete-account.tsx";
import { FieldsForm, type RecordField } from "./fields-form.tsx";
import { LevelMap } from "./level-map.tsx";
import { AccountModelLimits } from "./model-limits.tsx";
import { MoveHere } from "./move-here.tsx";
import { StateForm } from "./state-form.tsx";
import { WhatHolds } from "./what-holds.tsx";

const LIMITS: readonly RecordField[] = [
  ...(["HardLimit", "DailyLimit", "SoftLimit", "AutoQuota", "RPM", "RPH", "RPD", "UserLimit"] as const),
  ...(["TPM", "TPH", "TPD"] as const),
];
const NAMES: readonly RecordField[] = ["Alias", "BillingEmail", "QRCode"];
const PLACE: readonly RecordField[] = ["Rates", "Factor", "Level", "Gear", "Role", "Tier"];
const FIGURES: readonly RecordField[] = ["XCredit", "CreditUsed", "ChargeAmount"];

/** The last tab of an account. */
export default function Settings() {
  const words = useWords(ACCOUNT_SETTINGS);
  const me = useStatus();
  const account = useAccountRecord();
  const relation = relationTo(me, account);
  const settable = (fields: readonly RecordField[]) => fields.filter((field) => maySet(relation, field));
  const figures = settable(FIGURES);
  return (
    <Stack gap="sm">
      <FieldsForm
        title={words.limits}
        about={words.limitsAbout}
        fields={settable(LIMITS)}
        account={account}
      />
      <WhatHolds account={account} />
      <AccessForm account={account} />
      <AccountModelLimits account={account} />
      <FieldsForm
        title={words.names}
        about={words.namesAbout(account.Name, account.Email)}
        fields={settable(NAMES)}
        account={account}
      />
      <FieldsForm
        title={words.place}
        about={maySet(relation, "Level") ? words.placeOwner : words.placeOther}
        fields={settable(PLACE)}
        account={account}
      />
      {maySet(relation, "LevelMapper") && <LevelMap account={account} />}
      {figures.length > 0 && (
        <FieldsForm title={words.figures} about={words.figuresAbout} fields={figures} account={account} />
      )}
      <StateForm account={account} />
      <Section title={words.danger}>
        <Stack gap="md">
          {maySet(relation, "ParentID") && !account.isOwner && (
            <div>
              <Title order={3}>{words.move.title}</Title>
              <MoveHere account={account} />
            </div>
          )}
          <div>
            <Title order={3}>{words.deletion.heading}</Title>
            <DeleteAccount account={account} />
          </div>
        </Stack>
      </Section>
    </Stack>
  );
}
