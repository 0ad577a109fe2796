// Giving credit to an account, or taking it back: both sides before and after, the lines of both ledgers to come, and how long the
// new balance lasts. A second click does nothing more: while it runs the button is closed, and a repeat after an unknown outcome has
// the same Idempotency-Key.

import {
  Anchor,
  Button,
  Group,
  Modal,
  SegmentedControl,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { useAccountGet } from "../../api/account-view.ts";
import { type Account, ancestorsOf, useAccount } from "../../api/accounts.ts";
import { type Nanos, parseUsd, plainUsd, toNanos, usdText } from "../../api/amount.ts";
import { isRoot } from "../../api/role.ts";
import { useWrite, type Writing } from "../../api/writes.ts";
import { WriteForm } from "../../components/write-form.tsx";
import { useStatus } from "../../frame/status.ts";
import { ACCOUNT } from "../../i18n/account.ts";
import { FIELD_WORDS } from "../../i18n/account-fields.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import {
  creditAfter,
  DEFAULT_DAYS,
  type TransferFacts,
  transferPlan,
  validityDays,
} from "./transfer-plan.ts";
import { TransferTable } from "./transfer-table.tsx";

type Kind = TransferFacts["kind"];

/** The dialog for the credit of an account. */
export function Transfer(props: { readonly account: Account; readonly onClose: () => void }) {
  const { account, onClose } = props;
  const words = useWords(ACCOUNT).transfer;
  const [done, setDone] = useState<Kind | null>(null);
  const writing = useWrite();
  return (
    <Modal
      opened
      // A dialog that is gone could not say what became of the transfer.
      onClose={() => {
        if (!writing.isRunning) onClose();
      }}
      title={<span className="cut">{words.title(account.Name)}</span>}
      size="lg"
    >
      {done === null ? (
        <TransferForm account={account} writing={writing} onDone={setDone} />
      ) : (
        <Done kind={done} account={account} onAgain={() => setDone(null)} onClose={onClose} />
      )}
    </Modal>
  );
}

function Done(props: {
  readonly kind: Kind;
  readonly account: Account;
  readonly onAgain: () => void;
  readonly onClose: () => void;
}) {
  const { kind, account, onAgain, onClose } = props;
  const words = useWords(ACCOUNT).transfer;
  const { close } = useWords(SHELL);
  return (
    <Stack gap="sm" role="status">
      <Text size="sm">
        <b>{words.done[kind]}</b> {words.doneAbout}
      </Text>
      <Anchor component={Link} href={`/accounts/${account.ID}/ledger`} size="sm">
        {words.lines}
      </Anchor>
      <Group gap="xs">
        <Button onClick={onClose}>{close}</Button>
        <Button variant="default" onClick={onAgain}>
          {words.again}
        </Button>
      </Group>
    </Stack>
  );
}

/** The account that gives, or gets back: the direct parent, and Root where credit is made or ends. */
function useAbove(account: Account, kind: Kind) {
  const me = useStatus();
  const parent = ancestorsOf(account.DNA).at(-1) ?? null;
  const isMade = parent === null || parent === 1 || (kind === "give" && isRoot(me));
  const isMine = parent === me.id;
  const asked = useAccount(isMade || isMine ? null : parent);
  if (isMade) return { name: "root", balance: null, isKnown: true };
  if (isMine) return { name: me.name, balance: me.balance, isKnown: true };
  const [record] = asked.data ?? [];
  return { name: record?.Name ?? "", balance: record?.Balance ?? null, isKnown: record !== undefined };
}

function TransferForm(props: {
  readonly account: Account;
  readonly writing: Writing<unknown>;
  readonly onDone: (kind: Kind) => void;
}) {
  const { account, writing, onDone } = props;
  const words = useWords(ACCOUNT).transfer;
  const fieldWords = useWords(FIELD_WORDS);
  const [kind, setKind] = useState<Kind>("give");
  const [amountText, setAmount] = useState("");
  const [daysText, setDays] = useState("");
  const live = useAccountGet("live");
  const above = useAbove(account, kind);
  const amount = positive(parseUsd(amountText));
  const typedDays = validityDays(daysText);
  // What is taken back has no days: its field is not there to be corrected.
  const days = kind === "take" ? DEFAULT_DAYS : typedDays;
  const balance = live.data?.balance.total ?? account.Balance;
  const isReady = amount !== null && days !== null && above.isKnown;
  const facts = isReady ? { kind, amount, days, balance, above: above.balance, nowMs: Date.now() } : null;
  const plan = facts && transferPlan(facts);
  const credits = live.data?.balance.credits;
  const body =
    kind === "give"
      ? { CreditGranted: amount, ...(daysText.trim() === "" ? {} : { Days: days }) }
      : { CreditGranted: amount === null ? null : toNanos(-amount) };
  const isShort = plan !== null && (plan.account.after < 0n || (plan.above?.after ?? 0n) < 0n);
  return (
    <WriteForm
      writing={writing}
      write={isReady && !isShort ? { method: "PUT", path: `/x-users/${account.ID}`, body } : null}
      submit={words.send[kind]}
      onDone={() => onDone(kind)}
    >
      <SegmentedControl
        value={kind}
        onChange={(value) => setKind(value as Kind)}
        aria-label={words.kind}
        data={(["give", "take"] as const).map((value) => ({ value, label: words[value] }))}
      />
      <SimpleGrid cols={2} spacing="xs">
        <TextInput
          label={words.amount}
          description={words.amountHint}
          value={amountText}
          onChange={(event) => setAmount(event.currentTarget.value)}
          inputMode="decimal"
          autoComplete="off"
          data-autofocus
          {...(amountText !== "" && amount === null ? { error: fieldWords.usd } : {})}
        />
        {kind === "give" && (
          <TextInput
            label={words.days}
            description={words.daysHint}
            value={daysText}
            onChange={(event) => setDays(event.currentTarget.value)}
            inputMode="numeric"
            autoComplete="off"
            placeholder={String(DEFAULT_DAYS)}
            {...(typedDays === null ? { error: words.daysBounds } : {})}
          />
        )}
      </SimpleGrid>
      {kind === "take" && <TakeHint held={live.data?.balance.held} all={balance} onAll={setAmount} />}
      {plan !== null && (
        <TransferTable
          {...{ plan, kind, account }}
          above={above.name}
          credit={credits === undefined ? null : creditAfter(credits, facts!)}
        />
      )}
      {isShort && (
        <Text size="sm" c="var(--console-negative)" role="alert">
          {words.short}
        </Text>
      )}
    </WriteForm>
  );
}

const positive = (amount: Nanos | null): Nanos | null => (amount !== null && amount > 0n ? amount : null);

function TakeHint(props: {
  readonly held: Nanos | undefined;
  readonly all: Nanos;
  readonly onAll: (text: string) => void;
}) {
  const { held, all, onAll } = props;
  const words = useWords(ACCOUNT).transfer;
  const free = toNanos(all - (held ?? 0n));
  return (
    <Text size="xs" c="dimmed" component="div">
      {words.takeHint} {held !== undefined && held > 0n && words.held(usdText(held))}{" "}
      {free > 0n && (
        <Anchor component="button" type="button" size="xs" onClick={() => onAll(plainUsd(free))}>
          {usdText(free)}
        </Anchor>
      )}
    </Text>
  );
}
