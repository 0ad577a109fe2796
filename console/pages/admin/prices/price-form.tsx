// The form of one model's price: a field for each price, with the list price in it as long as nothing is typed. What is typed goes
// into a draft, whose effect is shown before anything is saved.

import { Button, Group, Select, SimpleGrid, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { type FormEvent, useState } from "react";
import { useGet } from "../../../api/queries.ts";
import { useWords } from "../../../i18n/language.ts";
import { PRICE_WORDS } from "../../../i18n/prices.ts";
import { PriceCell } from "./price-cell.tsx";
import {
  amountFields,
  hasSizes,
  NO_PRICE_TEXTS,
  type PriceTexts,
  priceText,
  textsOf,
  typedPrice,
} from "./price-texts.ts";
import {
  hasAmount,
  mergedPrice,
  PRICE_GROUP_NAMES,
  type PriceEntry,
  type PriceFieldName,
  type PriceGroup,
} from "./pricing.ts";
import { isModelName } from "./pricing-faults.ts";
import { SizeFields } from "./size-fields.tsx";

/** How long after the last letter the list is asked, and how many rows of it. */
const TYPING_MS = 300;
const FOUND_MAX = 100;

/** What the form is about. */
export interface PriceSubject {
  /** Its name; null for a new one, whose name is typed. */
  readonly model: string | null;
  /** The group that prices it; null where none does yet. */
  readonly group: PriceGroup | null;
  readonly list: PriceEntry | null;
}

/** The form. `ownOf` is what the Owner has set so far; `onApply` gets what the model has of its own from now on. */
export function PriceForm(props: {
  readonly subject: PriceSubject;
  readonly ownOf: (group: PriceGroup, model: string) => PriceEntry | null;
  readonly onApply: (group: PriceGroup, model: string, entry: PriceEntry | null) => void;
}) {
  const { subject, ownOf, onApply } = props;
  const words = useWords(PRICE_WORDS).form;
  const [name, setName] = useState(subject.model ?? "");
  const [group, setGroup] = useState<PriceGroup>(subject.group ?? "ChatPricing");
  const model = name.trim();
  const own = ownOf(group, model);
  const [texts, setTexts] = useState(() => (subject.model === null ? NO_PRICE_TEXTS : textsOf(own)));
  const list = useListPrice(subject, group, model);
  const { entry, unreadable } = typedPrice(texts, group, list);
  const isNamed = isModelName(model);
  const isPriced = entry === null || hasAmount(mergedPrice(list, entry));
  // Nothing typed takes an own price away, but only where that price was in the fields.
  const isRemoval = entry === null && own !== null && subject.model !== null;
  const isReady = isNamed && unreadable.length === 0 && isPriced && (entry !== null || isRemoval);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) onApply(group, model, entry);
  };
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="sm">
        {(subject.model === null || subject.group === null) && (
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
            <TextInput
              label={words.model}
              description={words.modelHint}
              value={name}
              readOnly={subject.model !== null}
              spellCheck={false}
              error={model !== "" && !isNamed && words.modelInvalid}
              onChange={(event) => setName(event.currentTarget.value)}
            />
            <GroupSelect group={group} onGroup={setGroup} />
          </SimpleGrid>
        )}
        {subject.model === null && own !== null && (
          <Text size="sm" component="div" role="status">
            {words.hasOwn} <PriceCell price={own} />
          </Text>
        )}
        <PriceInputs group={group} list={list} texts={texts} unreadable={unreadable} onTexts={setTexts} />
        <Text size="xs" c="dimmed">
          {words.about}
        </Text>
        {entry !== null && (
          <Text size="sm" component="div">
            {isPriced ? words.effective : words.needsAmount}{" "}
            {isPriced && <PriceCell price={mergedPrice(list, entry)} beside={list} />}
          </Text>
        )}
        <Group gap="xs">
          <Button type="submit" disabled={!isReady}>
            {words.apply}
          </Button>
          {own !== null && (
            <Button variant="default" onClick={() => onApply(group, model, null)}>
              {words.remove}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

/** Returns the list price of a model in a group: that of the subject, or one that is asked for while a name is typed. */
function useListPrice(subject: PriceSubject, group: PriceGroup, model: string): PriceEntry | null {
  const isSubject = subject.model !== null && subject.group === group;
  const [name] = useDebouncedValue(model, TYPING_MS);
  const asked = useGet(
    "/x-prices",
    { q: name, size: FOUND_MAX },
    { enabled: !isSubject && name !== "", everyMs: 0 },
  );
  if (isSubject) return subject.list;
  const row = asked.data?.prices.find((one) => one.model === model && one.group === group);
  return (row?.list ?? null) as PriceEntry | null;
}

function GroupSelect(props: { readonly group: PriceGroup; readonly onGroup: (group: PriceGroup) => void }) {
  const { group, onGroup } = props;
  const words = useWords(PRICE_WORDS);
  return (
    <Select
      label={words.form.group}
      description={group}
      data={PRICE_GROUP_NAMES.map((value) => ({ value, label: words.group[value] }))}
      value={group}
      allowDeselect={false}
      onChange={(chosen) => onGroup((chosen ?? group) as PriceGroup)}
    />
  );
}

interface PriceInputsProps {
  readonly group: PriceGroup;
  readonly list: PriceEntry | null;
  readonly texts: PriceTexts;
  readonly unreadable: readonly string[];
  readonly onTexts: (texts: PriceTexts) => void;
}

function PriceInputs(props: PriceInputsProps) {
  const { group, list, texts, unreadable, onTexts } = props;
  const words = useWords(PRICE_WORDS).form;
  const listed = (price: number | undefined) =>
    price === undefined ? words.unlisted : words.listed(priceText(price));
  const onField = (field: PriceFieldName, text: string) =>
    onTexts({ ...texts, fields: { ...texts.fields, [field]: text } });
  return (
    <>
      <SimpleGrid cols={{ base: 2, sm: 3 }} spacing="xs">
        {amountFields(group).map((field) => (
          <TextInput
            key={field}
            label={words.field[field]}
            description={field}
            classNames={{ input: "price-input" }}
            inputMode="decimal"
            autoComplete="off"
            placeholder={field === "Rates" ? String(list?.Rates ?? 1) : listed(list?.[field])}
            value={texts.fields[field] ?? ""}
            error={unreadable.includes(field) && words.invalid}
            onChange={(event) => onField(field, event.currentTarget.value)}
          />
        ))}
      </SimpleGrid>
      {hasSizes(group) && (
        <SizeFields
          listed={list?.Sizes ?? {}}
          texts={texts.sizes}
          unreadable={unreadable}
          placeholder={listed}
          onTexts={(sizes) => onTexts({ ...texts, sizes })}
        />
      )}
    </>
  );
}
