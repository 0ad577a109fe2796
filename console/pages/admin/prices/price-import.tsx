// Prices as JSON: pasted or out of a file, judged here by path, then taken into the draft.

import { Alert, Button, Code, FileButton, Group, Stack, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { Dialog } from "../../../components/dialog.tsx";
import { useWords } from "../../../i18n/language.ts";
import { PRICE_WORDS } from "../../../i18n/prices.ts";
import { entryEdits, type PricingMap } from "./pricing.ts";
import { type PricingFault, readPricingText } from "./pricing-faults.ts";

/** Faults that are shown. */
const SHOWN_MAX = 20;

/** The dialog. `present` are the prices that would be replaced; `onApply` gets the new ones. */
export function PriceImport(props: {
  readonly present: PricingMap;
  readonly onApply: (pricing: PricingMap) => void;
  readonly onClose: () => void;
}) {
  const { present, onApply, onClose } = props;
  const words = useWords(PRICE_WORDS).paste;
  const [text, setText] = useState("");
  const read = text.trim() === "" ? null : readPricingText(text);
  const pricing = read?.ok ? read.pricing : null;
  const isSame = pricing !== null && entryEdits(present, pricing).length === 0;
  const onFile = async (file: File | null) => {
    if (file !== null) setText(await file.text());
  };
  return (
    <Dialog title={words.title} onClose={onClose} isKept>
      <Stack gap="sm">
        <Text size="sm">{words.about}</Text>
        <Textarea
          label={words.text}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          autosize
          minRows={8}
          maxRows={16}
          spellCheck={false}
          classNames={{ input: "price-text" }}
        />
        {read !== null && !read.ok && <Faults faults={read.faults} />}
        {isSame && (
          <Text size="sm" role="status">
            {words.none}
          </Text>
        )}
        <Group gap="xs">
          <Button disabled={pricing === null || isSame} onClick={() => pricing !== null && onApply(pricing)}>
            {words.apply}
          </Button>
          <FileButton accept="application/json,.json" onChange={(file) => void onFile(file)}>
            {(button) => (
              <Button variant="default" {...button}>
                {words.file}
              </Button>
            )}
          </FileButton>
        </Group>
      </Stack>
    </Dialog>
  );
}

function Faults({ faults }: { readonly faults: readonly PricingFault[] }) {
  const words = useWords(PRICE_WORDS).paste;
  return (
    <Alert color="red" title={words.faults} role="alert">
      <ul className="price-faults">
        {faults.slice(0, SHOWN_MAX).map(({ path, rule, detail }) => (
          <li key={`${path} ${rule}`}>
            <Code>{path}</Code> {words.rule[rule](detail)}
          </li>
        ))}
      </ul>
      {faults.length > SHOWN_MAX && <Text size="xs">{words.more(faults.length - SHOWN_MAX)}</Text>}
    </Alert>
  );
}
