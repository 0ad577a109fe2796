// My mapping: the account's own model map, what each of its entries does at this moment, and where a name would go.

import { Stack } from "@mantine/core";
import { useState } from "react";
import { useGet } from "../../api/queries.ts";
import { Page } from "../../components/page.tsx";
import { Section } from "../../components/section.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { MAPPING } from "../../i18n/mapping.ts";
import { SHELL } from "../../i18n/shell.ts";
import { EntryResults } from "./entry-results.tsx";
import { entriesOf, type KnownMap, loggedMap } from "./known-map.ts";
import { OwnMapEditor } from "./map-editor.tsx";
import { NameTester } from "./name-tester.tsx";

/** Changes of the own account that are looked through for one of the map. */
const CHANGES_READ = 100;

/** The page of the own map. */
export default function Mapping() {
  const { page } = useWords(SHELL);
  const words = useWords(MAPPING);
  const { id } = useStatus();
  const changes = useGet("/dashboard/logs", {
    ...{ target_id: id, operator_id: id, action: "update_user", status: "success", size: CHANGES_READ },
  });
  const models = useGet("/dashboard/models", {}, { everyMs: 0 });
  const names = models.data?.models.map((model) => model.id) ?? [];
  const [stated, setStated] = useState<KnownMap | null>(null);
  const [draft, setDraft] = useState<string | null>(null);
  const known = stated ?? loggedMap(changes.data?.logs ?? []);
  const onStated = (text: string) => {
    setStated({ entries: entriesOf(text), at: null });
    setDraft(null);
  };
  return (
    <Page title={page.mapping} about={words.about}>
      <Stack gap="sm">
        <div className="mapping-columns">
          <Section title={words.entries}>
            {changes.isPending ? (
              <div aria-busy="true" />
            ) : (
              <OwnMapEditor known={known} draft={draft} onDraft={setDraft} onStated={onStated} />
            )}
          </Section>
          <Section title={words.results}>
            <EntryResults entries={known?.entries ?? null} models={names} />
          </Section>
        </div>
        <Section title={words.try}>
          <NameTester models={names} known={known} draft={draft} />
        </Section>
      </Stack>
    </Page>
  );
}
