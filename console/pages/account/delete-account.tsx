// Deletion of an account: what it refunds, its fee, how many accounts go with it, and its name typed to confirm.

import { Button, Checkbox, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useState } from "react";
import { useAccountGet } from "../../api/account-view.ts";
import { type Account, dnaBelow } from "../../api/accounts.ts";
import { countText, usdText } from "../../api/amount.ts";
import type { AccountWrites } from "../../api/answers.ts";
import { useGetList } from "../../api/queries.ts";
import { useWrite } from "../../api/writes.ts";
import { Amount } from "../../components/amount.tsx";
import { AskedState } from "../../components/asked-state.tsx";
import { WriteForm } from "../../components/write-form.tsx";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { useWords } from "../../i18n/language.ts";
import { useDeleted } from "./account-context.ts";
import { deletionOf } from "./deletion.ts";

/** The button and the dialog that it opens. */
export function DeleteAccount({ account }: { readonly account: Account }) {
  const words = useWords(ACCOUNT_SETTINGS).deletion;
  const [isOpen, setOpen] = useState(false);
  return (
    <Stack gap={4} align="flex-start">
      <Text size="sm">{words.about}</Text>
      <Button color="red" variant="light" onClick={() => setOpen(true)}>
        {words.open}
      </Button>
      {isOpen && (
        <Modal
          opened
          onClose={() => setOpen(false)}
          title={<span className="cut">{words.title(account.Name)}</span>}
        >
          <DeletionForm account={account} />
        </Modal>
      )}
    </Stack>
  );
}

function DeletionForm({ account }: { readonly account: Account }) {
  const below = useGetList("/x-dna", { dna: dnaBelow(account.DNA, account.ID), page: 1, size: 1 });
  return (
    <AskedState asked={below}>{({ total }) => <Confirmed account={account} below={total} />}</AskedState>
  );
}

function Confirmed({ account, below }: { readonly account: Account; readonly below: number }) {
  const words = useWords(ACCOUNT_SETTINGS).deletion;
  const writing = useWrite<AccountWrites["deleted"]>();
  const onDeleted = useDeleted();
  // Nothing is asked about an account that is being deleted.
  const live = useAccountGet("live", {}, { enabled: !writing.isRunning });
  const [typed, setTyped] = useState("");
  const [isWhole, setWhole] = useState(false);
  const isReady = typed.trim() === account.Name && (below === 0 || isWhole);
  const query = below === 0 ? {} : { query: { recursive: "true" } };
  return (
    <WriteForm
      writing={writing}
      write={isReady ? { method: "DELETE", path: `/x-users/${account.ID}`, ...query } : null}
      submit={words.submit}
      color="red"
      onDone={onDeleted}
    >
      <Refund account={account} balance={live.data?.balance.total ?? account.Balance} />
      {live.data !== undefined && live.data.balance.held > 0n && (
        <Text size="sm">{words.held(usdText(live.data.balance.held))}</Text>
      )}
      {below > 0 && (
        <Checkbox
          label={words.whole(countText(below))}
          description={words.wholeAbout}
          checked={isWhole}
          onChange={(event) => setWhole(event.currentTarget.checked)}
        />
      )}
      <Text size="sm">{words.kept}</Text>
      <TextInput
        label={words.typeName}
        description={<span className="text-block">{account.Name}</span>}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
      />
    </WriteForm>
  );
}

/** What becomes of the balance. */
function Refund(props: { readonly account: Account; readonly balance: Account["Balance"] }) {
  const { account, balance } = props;
  const words = useWords(ACCOUNT_SETTINGS).deletion;
  const { fee, refund, writeOff } = deletionOf(balance);
  const rows = [
    [words.balance, balance],
    [words.fee, fee],
    [account.isOwner ? words.toRoot : words.refund, refund],
    ...(writeOff > 0n ? [[words.writeOff, writeOff] as const] : []),
  ] as const;
  return (
    <div>
      {rows.map(([label, amount]) => (
        <div key={label} className="figure-line figure-cell">
          <Text size="sm">{label}</Text>
          <Amount value={amount} />
        </div>
      ))}
    </div>
  );
}
