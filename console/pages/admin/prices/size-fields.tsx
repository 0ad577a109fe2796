// Prices of images by quality and size: those of the list, and further ones.

import { Button, Group, SimpleGrid, TextInput } from "@mantine/core";
import { useState } from "react";
import { useWords } from "../../../i18n/language.ts";
import { PRICE_WORDS } from "../../../i18n/prices.ts";

/** A field for each size. `placeholder` says what holds while nothing is typed. */
export function SizeFields(props: {
  readonly listed: Readonly<Record<string, number>>;
  readonly texts: Readonly<Record<string, string>>;
  readonly unreadable: readonly string[];
  readonly placeholder: (price: number | undefined) => string;
  readonly onTexts: (texts: Readonly<Record<string, string>>) => void;
}) {
  const { listed, texts, unreadable, placeholder, onTexts } = props;
  const words = useWords(PRICE_WORDS).form;
  const [size, setSize] = useState("");
  const sizes = [...new Set([...Object.keys(listed), ...Object.keys(texts)])];
  const isNew = size.trim() !== "" && !sizes.includes(size.trim());
  const add = () => {
    onTexts({ ...texts, [size.trim()]: "" });
    setSize("");
  };
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="xs">
        {sizes.map((one) => (
          <TextInput
            key={one}
            label={one}
            classNames={{ input: "price-input" }}
            inputMode="decimal"
            autoComplete="off"
            placeholder={placeholder(listed[one])}
            value={texts[one] ?? ""}
            error={unreadable.includes(one) && words.invalid}
            onChange={(event) => onTexts({ ...texts, [one]: event.currentTarget.value })}
          />
        ))}
      </SimpleGrid>
      <Group gap="xs" align="flex-end">
        <TextInput
          label={words.size}
          value={size}
          w={260}
          placeholder="high/1024x1024"
          spellCheck={false}
          onChange={(event) => setSize(event.currentTarget.value)}
        />
        <Button variant="default" disabled={!isNew} onClick={add}>
          {words.addSize}
        </Button>
      </Group>
    </>
  );
}
