// One list of an account in its form: its items, each of which can be taken away, a field that adds some, and the list that results.

import { ActionIcon, Badge, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { type KeyboardEvent, useState } from "react";
import { FIELD_HINTS } from "../../i18n/account-fields.ts";
import { ACCOUNT_SETTINGS } from "../../i18n/account-settings.ts";
import { useWords } from "../../i18n/language.ts";
import { itemsOf, type ListField, listChange, without, withTyped } from "./list-change.ts";

/** An editor of the list `before`, which `after` shall become. */
export function ListEditor(props: {
  readonly field: ListField;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly onChange: (after: readonly string[]) => void;
}) {
  const { field, before, after, onChange } = props;
  const words = useWords(ACCOUNT_SETTINGS).lists;
  const hints = useWords(FIELD_HINTS);
  const [typed, setTyped] = useState("");
  const { added, removed } = listChange(before, after);
  const add = () => {
    onChange(withTyped(field, after, typed));
    setTyped("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || itemsOf(typed).length === 0) return;
    // The form is sent by its button; here Enter adds.
    event.preventDefault();
    add();
  };
  return (
    <Stack gap={4} data-list={field}>
      <Group gap="xs" align="flex-end">
        <TextInput
          label={field}
          description={hints[field]}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          placeholder={words.placeholder[field]}
          autoComplete="off"
          spellCheck={false}
          flex={1}
        />
        <Button
          variant="default"
          onClick={add}
          disabled={itemsOf(typed).length === 0}
          aria-label={words.addTo(field)}
        >
          +
        </Button>
      </Group>
      <ul className="list-items" aria-label={words.items(field)}>
        {after.map((item) => (
          <li key={item}>
            <Badge
              tt="none"
              variant="default"
              color={added.includes(item) ? "arbor" : "gray"}
              className="list-item"
            >
              {added.includes(item) ? "+ " : ""}
              {item}
            </Badge>
            <ActionIcon
              size={18}
              onClick={() => onChange(without(after, item))}
              aria-label={words.take(item)}
            >
              −
            </ActionIcon>
          </li>
        ))}
        {removed.map((item) => (
          <li key={item}>
            <Badge tt="none" variant="default" color="red" td="line-through" className="list-item">
              {item}
            </Badge>
            <ActionIcon size={18} onClick={() => onChange([...after, item])} aria-label={words.putBack(item)}>
              +
            </ActionIcon>
          </li>
        ))}
      </ul>
      {(added.length > 0 || removed.length > 0 || after.length === 0) && (
        <Text size="xs" c="dimmed" role="status" className="text-block">
          {after.length > 0
            ? words.result(after.join(", "))
            : removed.length > 0
              ? words.emptied
              : words.everything}
        </Text>
      )}
    </Stack>
  );
}
