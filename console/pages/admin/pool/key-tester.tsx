// The test of one provider key, with a model of one's choice.

import { Button, Group, Text, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useWrite } from "../../../api/writes.ts";
import { CopyCurl } from "../../../components/copy.tsx";
import { FailureNotice } from "../../../components/failure-notice.tsx";
import { Section } from "../../../components/section.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { PROVIDER_KEY } from "../../../i18n/provider-key.ts";
import { TestOutcome } from "./key-card.tsx";
import { type TestedKey, testOf } from "./key-test.ts";

/** Tests the key as it is saved. */
export function KeyTester({ id }: { readonly id: number }) {
  const words = useWords(PROVIDER_KEY);
  const { test: testWord } = useWords(POOL);
  const test = useWrite<TestedKey>();
  const [model, setModel] = useState("");
  const write = testOf(id, model);
  const run = (event: FormEvent) => {
    event.preventDefault();
    void test.send(write);
  };
  return (
    <Section title={words.test}>
      <form onSubmit={run}>
        <Text size="xs" c="dimmed" mb={4}>
          {words.testHint} {words.testSaved}
        </Text>
        <Group gap="xs" align="flex-end">
          <TextInput
            label={words.model}
            description={words.modelHint}
            value={model}
            onChange={(event) => setModel(event.currentTarget.value)}
            flex="1 0 180px"
          />
          <Button type="submit" variant="default" loading={test.isRunning}>
            {testWord}
          </Button>
          <CopyCurl {...write} />
        </Group>
        <TestOutcome tested={test.answer} />
        {test.failure !== null && (
          <FailureNotice
            failure={test.failure}
            repeat={{ run: () => void test.send(test.last!), isSafe: true }}
          />
        )}
      </form>
    </Section>
  );
}
