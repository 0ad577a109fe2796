// A test mail over the Owner's own mail server, and at which step it ended.

import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import type { ConfigAnswers } from "../../../api/answers.ts";
import { useWrite } from "../../../api/writes.ts";
import { CopyCurl } from "../../../components/copy.tsx";
import { FailureNotice } from "../../../components/failure-notice.tsx";
import { useWords } from "../../../i18n/language.ts";
import { SETTING_WORDS } from "../../../i18n/settings.ts";

const TEST = { method: "POST", path: "/x-config/test-mail", body: {} } as const;

/** Sends a test mail. `hasServer`: a mail server is saved; `isChanged`: the form has mail settings that are not saved yet. */
export function TestMail(props: { readonly hasServer: boolean; readonly isChanged: boolean }) {
  const { hasServer, isChanged } = props;
  const words = useWords(SETTING_WORDS);
  const writing = useWrite<ConfigAnswers["testMail"]>();
  const { answer, failure, isRunning } = writing;
  const run = () => void writing.send(TEST);
  return (
    <Stack gap="xs" className="test-mail">
      <Text size="sm" c="dimmed">
        {hasServer ? words.testAbout : words.testNeedsServer}
        {hasServer && isChanged && ` ${words.testOfSaved}`}
      </Text>
      {hasServer && (
        <Group gap="xs">
          <Button variant="default" onClick={run} loading={isRunning}>
            {words.test}
          </Button>
          <CopyCurl {...TEST} />
        </Group>
      )}
      {failure !== null && <FailureNotice failure={failure} repeat={{ run, isSafe: true }} />}
      {answer !== null && !isRunning && <TestResult answer={answer} />}
    </Stack>
  );
}

function TestResult({ answer }: { readonly answer: ConfigAnswers["testMail"] }) {
  const words = useWords(SETTING_WORDS);
  const { success, stage, code, enhanced_status: enhanced } = answer;
  const said = [code, enhanced].filter((one) => one !== null).join(" ");
  return (
    <Alert
      color={success ? "arbor" : "red"}
      role="status"
      title={success ? words.testDone : words.testFailed(words.stages[stage])}
    >
      {!success && <Text size="sm">{words.stageAdvice[stage]}</Text>}
      {said !== "" && (
        <Text size="xs" c="dimmed">
          {words.code(said)}
        </Text>
      )}
    </Alert>
  );
}
