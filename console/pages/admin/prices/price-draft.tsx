// Prices that are not saved yet: what changes, its effect on the last 30 days, and the button that saves them.

import { Button, Group, Stack, Text } from "@mantine/core";
import { useEffect, useRef } from "react";
import type { Basis } from "../../../api/configuration.ts";
import { differencesOf } from "../../../api/difference.ts";
import { ConfigForm } from "../../../components/config-form.tsx";
import { Differences } from "../../../components/differences.tsx";
import { Section } from "../../../components/section.tsx";
import { CONFIGURATION } from "../../../i18n/configuration.ts";
import { useWords } from "../../../i18n/language.ts";
import { PRICE_WORDS } from "../../../i18n/prices.ts";
import { PriceEffect } from "./price-effect.tsx";
import { entryEdits, type PricingMap, pricingBody } from "./pricing.ts";

/** The draft over the prices `former`. `onDone` is called after it was saved or discarded. */
export default function PriceDraft(props: {
  readonly basis: Basis;
  readonly former: PricingMap;
  readonly draft: PricingMap;
  readonly onDone: () => void;
}) {
  const { basis, former, draft, onDone } = props;
  const words = useWords(PRICE_WORDS).draft;
  const place = useRef<HTMLDivElement>(null);
  // The price that was edited may be far down the list.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs for every new draft
  useEffect(() => {
    void place.current?.scrollIntoView({ block: "start" });
  }, [draft]);
  return (
    <div ref={place} className="price-draft">
      <Section title={words.title}>
        <ConfigForm
          basis={basis}
          write={{ method: "PUT", path: "/x-config", body: { PRICING: pricingBody(draft) } }}
          submit={words.save}
          onDone={onDone}
          beside={
            <Button variant="default" onClick={onDone}>
              {words.discard}
            </Button>
          }
        >
          <Stack gap="sm">
            <Edits former={former} draft={draft} />
            <PriceEffect draft={draft} />
          </Stack>
        </ConfigForm>
      </Section>
    </div>
  );
}

function Edits({ former, draft }: { readonly former: PricingMap; readonly draft: PricingMap }) {
  const words = useWords(PRICE_WORDS);
  const { moreChanges } = useWords(CONFIGURATION);
  const differences = entryEdits(former, draft).flatMap(({ group, model, before, after }) =>
    differencesOf(before, after).map((one) => ({ ...one, path: [model, ...one.path], group })),
  );
  return (
    <Group gap="xs" align="flex-start">
      <Text size="sm" fw={600}>
        {words.draft.changes}
      </Text>
      <div className="difference-lists">
        {[...Map.groupBy(differences, ({ group }) => group)].map(([group, all]) => (
          <Differences key={group} name={words.group[group]} differences={all} more={moreChanges} />
        ))}
      </div>
    </Group>
  );
}
