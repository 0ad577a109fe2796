// Where a request for a name would go now, and what becomes of the name once the draft of the map is saved.

import { Autocomplete, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { readMap } from "../../api/map-text.ts";
import { useGet } from "../../api/queries.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { RouteDecision, RouteTables } from "../../components/explained-route.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useWords } from "../../i18n/language.ts";
import { MAPPING } from "../../i18n/mapping.ts";
import { entryFor, type KnownMap } from "./known-map.ts";

const VIEW = { model: "" };
/** Names that the field proposes at once. */
const PROPOSED_MAX = 30;

/** Asks about a name. `draft` is the text of the map that is not saved yet, null: there is none. */
export function NameTester(props: {
  readonly models: readonly string[];
  readonly known: KnownMap | null;
  readonly draft: string | null;
}) {
  const { models, known, draft } = props;
  const words = useWords(MAPPING);
  const [{ model }, change] = useUrlState(VIEW);
  const [typed, setTyped] = useState(model);
  const asked = useGet("/dashboard/explain", { model }, { enabled: model !== "" });
  return (
    <Stack gap="xs">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change({ model: typed.trim() });
        }}
      >
        <Group gap="xs" align="flex-end" wrap="nowrap" maw={480}>
          <Autocomplete
            size="xs"
            label={words.model}
            description={words.modelHint}
            data={[...new Set(models)]}
            limit={PROPOSED_MAX}
            value={typed}
            onChange={setTyped}
            onOptionSubmit={(chosen) => change({ model: chosen })}
            flex={1}
          />
          <Button type="submit" variant="default" disabled={typed.trim() === ""}>
            {words.tryIt}
          </Button>
        </Group>
      </form>
      {model === "" ? (
        <Text size="sm" c="dimmed">
          {words.tryEmpty}
        </Text>
      ) : (
        <AskedState asked={asked} rows={6}>
          {(route) => (
            <Stack gap="sm">
              <RouteDecision route={route} />
              <AfterSaving model={model} known={known} draft={draft} />
              <RouteTables route={route} />
            </Stack>
          )}
        </AskedState>
      )}
    </Stack>
  );
}

/** What the first step makes of the name once the draft is saved, where that differs. */
function AfterSaving(props: {
  readonly model: string;
  readonly known: KnownMap | null;
  readonly draft: string | null;
}) {
  const { model, known, draft } = props;
  const words = useWords(MAPPING);
  if (draft === null) return null;
  const now = entryFor(known?.entries ?? [], model);
  const then = entryFor(readMap(draft).entries, model);
  if (now?.left === then?.left && now?.right === then?.right) return null;
  return (
    <Text size="sm" role="status" data-after-saving={then?.right ?? model}>
      {then === null ? words.afterSavingNone : words.afterSaving(then.right, `${then.left}=${then.right}`)}
    </Text>
  );
}
