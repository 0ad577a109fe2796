// One line of the operation log at the side of the list: who did what to whom, every field before and after, or why it was refused.

import { Badge, Button, Group, SimpleGrid, Stack, Table, Text } from "@mantine/core";
import {
  type LoggedChange,
  type LogLine,
  loggedAt,
  loggedText,
  readDetails,
  readRefusal,
} from "../../api/log-details.ts";
import { AccountName } from "../../components/account-name.tsx";
import { Sheet } from "../../components/dialog.tsx";
import { Fact } from "../../components/fact.tsx";
import { Advice } from "../../components/failure-notice.tsx";
import { ScrollRegion } from "../../components/scroll-region.tsx";
import { Time } from "../../components/time.tsx";
import { useStatus } from "../../frame/status.ts";
import { ACTIVITY } from "../../i18n/activity.ts";
import { useWords } from "../../i18n/language.ts";
import { TargetOf } from "./log-columns.tsx";

/** The sheet of a line. `onTarget` shows all lines about its target; null: that cannot be asked here. */
export default function LogSheet(props: {
  readonly line: LogLine;
  readonly onClose: () => void;
  readonly onTarget: (() => void) | null;
}) {
  const { line, onClose, onTarget } = props;
  const words = useWords(ACTIVITY);
  return (
    <Sheet title={words.line} onClose={onClose}>
      <Stack gap="md">
        <LineFacts line={line} />
        {line.status === "failed" ? (
          <Refusal details={line.details} />
        ) : (
          <Differences details={line.details} />
        )}
        {onTarget !== null && (
          <Group>
            <Button variant="default" onClick={onTarget}>
              {words.onlyThis}
            </Button>
          </Group>
        )}
      </Stack>
    </Sheet>
  );
}

function LineFacts({ line }: { readonly line: LogLine }) {
  const words = useWords(ACTIVITY);
  const me = useStatus();
  return (
    <SimpleGrid cols={{ base: 2, xs: 3 }} spacing="xs" verticalSpacing={6} className="log-facts">
      <Fact label={words.at}>
        <Time at={loggedAt(line)} />
      </Fact>
      <Fact label={words.action}>{words.actions[line.action]}</Fact>
      <Fact label={words.status}>
        <Badge tt="none" color={line.status === "failed" ? "red" : "gray"}>
          {words.statuses[line.status]}
        </Badge>
      </Fact>
      <Fact label={words.by}>
        <AccountName me={me} id={line.operator_id} isLink />
      </Fact>
      <Fact label={words.target}>
        <TargetOf line={line} me={me} words={words} isLink />
      </Fact>
      <Fact label={words.address}>{line.ip_address === "" ? words.noAddress : line.ip_address}</Fact>
    </SimpleGrid>
  );
}

function Refusal({ details }: { readonly details: string }) {
  const words = useWords(ACTIVITY);
  const { code, message } = readRefusal(details);
  return (
    <div>
      <Text size="sm" fw={600}>
        {words.refused(code)}
      </Text>
      <Text size="sm" className="text-block">
        {message}
      </Text>
      <Advice code={code} />
    </div>
  );
}

/** Every field with what it was and what it is. */
function Differences({ details }: { readonly details: string }) {
  const words = useWords(ACTIVITY);
  const { changes, rest } = readDetails(details);
  return (
    <div>
      {changes.length > 0 && <FieldTable changes={changes} />}
      {rest !== "" && (
        <Text size="sm" mt="xs" className="text-block">
          {rest}
        </Text>
      )}
      {changes.length === 0 && rest === "" && (
        <Text size="sm" c="dimmed">
          {words.noChanges}
        </Text>
      )}
    </div>
  );
}

function FieldTable({ changes }: { readonly changes: readonly LoggedChange[] }) {
  const words = useWords(ACTIVITY);
  return (
    <ScrollRegion label={words.what}>
      <Table fz="sm" verticalSpacing={3} horizontalSpacing={6} className="log-difference">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.field}</Table.Th>
            <Table.Th>{words.before}</Table.Th>
            <Table.Th>{words.after}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map(({ field, before, after }, nth) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a field may be there twice
            <Table.Tr key={nth}>
              <Table.Td fw={600}>{field}</Table.Td>
              <Table.Td className="wraps">{before === null ? "" : <del>{loggedText(before)}</del>}</Table.Td>
              <Table.Td className="wraps">
                <ins>{loggedText(after)}</ins>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollRegion>
  );
}
