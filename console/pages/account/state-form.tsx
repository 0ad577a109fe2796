// Whether an account may act: disabled it is refused everywhere, suspended it may still read. Each change says what it does first.

import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { Account } from "../../api/accounts.ts";
import { ConfirmModal } from "../../components/confirm-modal.tsx";
import { Section } from "../../components/section.tsx";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { useWords } from "../../i18n/language.ts";

type Act = "suspend" | "resume" | "disable" | "enable";

const BODIES: Readonly<Record<Act, object>> = {
  suspend: { Suspended: true },
  resume: { Suspended: false },
  disable: { Status: false },
  enable: { Status: true },
};

/** The state of an account and its two switches. */
export function StateForm({ account }: { readonly account: Account }) {
  const words = useWords(ACCOUNT_SETTINGS).state;
  const [act, setAct] = useState<Act | null>(null);
  const { Status, Suspended, ID, Name } = account;
  const isActive = Status && !Suspended;
  return (
    <Section title={words.title}>
      <Stack gap="xs">
        <Group gap="xs">
          {isActive && <Badge tt="none">{words.active}</Badge>}
          {!Status && (
            <Badge tt="none" color="red">
              {words.disabled}
            </Badge>
          )}
          {Suspended && (
            <Badge tt="none" color="red">
              {words.suspended}
            </Badge>
          )}
          <Text size="sm">{words.now[Status ? (Suspended ? "suspended" : "active") : "disabled"]}</Text>
        </Group>
        <Group gap="xs">
          <Button variant="default" onClick={() => setAct(Suspended ? "resume" : "suspend")}>
            {words.act[Suspended ? "resume" : "suspend"]}
          </Button>
          <Button variant="default" onClick={() => setAct(Status ? "disable" : "enable")}>
            {words.act[Status ? "disable" : "enable"]}
          </Button>
        </Group>
      </Stack>
      {act !== null && (
        <ConfirmModal
          title={words.ask(words.act[act], Name)}
          write={{ method: "PUT", path: `/x-users/${ID}`, body: BODIES[act] }}
          submit={words.act[act]}
          onClose={() => setAct(null)}
          onDone={() => setAct(null)}
        >
          <Text size="sm">{words.does[act]}</Text>
        </ConfirmModal>
      )}
    </Section>
  );
}
