// What an installation still lacks before requests can be made, as links to the pages that do it. It is shown to Root and to
// Owners, and is gone when everything is there.

import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "wouter";
import { isAdministrationHere } from "../../api/administration.ts";
import { useGet, useGetList } from "../../api/queries.ts";
import { isRoot } from "../../api/role.ts";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { NEXT_STEPS } from "../../i18n/next-steps.ts";

interface Step {
  readonly name: "owner" | "key" | "account";
  readonly href: string;
  readonly isDone: boolean;
}

/** The next steps of Root and Owners; nothing for others, and nothing when all are done. */
export function NextSteps() {
  const status = useStatus();
  if (!status.admin || !isAdministrationHere()) return null;
  return isRoot(status) ? <RootSteps /> : <OwnerSteps />;
}

function RootSteps() {
  const owners = useGetList("/x-users", { size: 1 });
  const { signIn } = useWords(NEXT_STEPS);
  if (owners.data === undefined) return null;
  const isDone = owners.data.total > 0;
  return <Steps steps={[{ name: "owner", href: "/accounts/new?owner=true", isDone }]} note={signIn} />;
}

function OwnerSteps() {
  const keys = useGet("/x-keys");
  const accounts = useGetList("/x-users", { size: 1 });
  if (keys.data === undefined || accounts.data === undefined) return null;
  return (
    <Steps
      steps={[
        { name: "key", href: "/admin/pool/new", isDone: keys.data.keys.length > 0 },
        { name: "account", href: "/accounts/new", isDone: accounts.data.total > 0 },
      ]}
    />
  );
}

function Steps({ steps, note }: { readonly steps: readonly Step[]; readonly note?: string }) {
  const words = useWords(NEXT_STEPS);
  if (steps.every(({ isDone }) => isDone)) return null;
  return (
    <Section title={words.title}>
      <Stack component="ol" gap="xs" className="next-steps">
        {steps.map(({ name, href, isDone }) => (
          <li key={name} data-done={isDone || undefined}>
            <Anchor component={Link} href={href} size="sm" fw={600}>
              {words[name]}
            </Anchor>{" "}
            <Text span size="xs" c="dimmed">
              {isDone ? `✓ ${words.done}` : words.open}
            </Text>
            <Text size="sm" c="dimmed">
              {words[`${name}Why`]}
            </Text>
          </li>
        ))}
      </Stack>
      {note === undefined ? null : (
        <Text size="xs" c="dimmed" mt="xs">
          {note}
        </Text>
      )}
    </Section>
  );
}
