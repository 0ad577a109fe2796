// The Owner's limits by model: a grid to type in, and what holds for a model in the end.

import { Button, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type Configuration, useBasis, useConfiguration } from "../../../api/configuration.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { ConfigForm } from "../../../components/config-form.tsx";
import { Page } from "../../../components/page.tsx";
import { Section } from "../../../components/section.tsx";
import { useWords } from "../../../i18n/language.ts";
import { LIMIT_WORDS } from "../../../i18n/model-limits.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { Holding } from "./holding.tsx";
import { gridRows, type LimitEdits, type LimitMap, limitsBody, limitsOfRows } from "./limit-draft.ts";
import { AddLimits, LimitGrid } from "./limit-grid.tsx";

const NOTHING: LimitEdits = {};

/** The page of limits by model. */
export default function ModelLimits() {
  const { page } = useWords(SHELL);
  const words = useWords(LIMIT_WORDS);
  const asked = useConfiguration();
  return (
    <Page title={page.modelLimits} about={words.about}>
      <AskedState asked={asked} rows={8}>
        {(newest) => <Limits newest={newest} />}
      </AskedState>
    </Page>
  );
}

function Limits({ newest }: { readonly newest: Configuration }) {
  const [edits, setEdits] = useState(NOTHING);
  const words = useWords(LIMIT_WORDS);
  const { cancel } = useWords(SHELL);
  const isTyped = Object.keys(edits).length > 0;
  const basis = useBasis(newest, isTyped);
  const saved = (basis.former.settings.MODEL_LIMITS ?? {}) as LimitMap;
  const rows = gridRows(saved, edits);
  const limits = limitsBody(rows);
  return (
    <Stack gap="sm">
      <Section title={words.grid}>
        <ConfigForm
          basis={basis}
          write={
            limits === null ? null : { method: "PUT", path: "/x-config", body: { MODEL_LIMITS: limits } }
          }
          submit={words.save(rows.filter(({ state }) => state !== "saved").length)}
          onDone={() => setEdits(NOTHING)}
          beside={
            isTyped && (
              <Button variant="default" onClick={() => setEdits(NOTHING)}>
                {cancel}
              </Button>
            )
          }
        >
          {rows.length === 0 ? (
            <Text size="sm" c="dimmed">
              {words.empty}
            </Text>
          ) : (
            <LimitGrid rows={rows} edits={edits} onEdits={setEdits} />
          )}
          <AddLimits rows={rows} edits={edits} onEdits={setEdits} />
        </ConfigForm>
      </Section>
      <Holding ofOwner={limitsOfRows(rows)} />
    </Stack>
  );
}
