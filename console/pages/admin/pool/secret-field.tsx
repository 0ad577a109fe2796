// A secret in a form: one that is kept is a mask with a way to replace it; a new one is typed or pasted, and never read back.

import { Button, Code, Group, PasswordInput, Textarea } from "@mantine/core";
import { useWords } from "../../../i18n/language.ts";
import { PROVIDER_KEY } from "../../../i18n/provider-key.ts";

/** A secret; `value` null: the kept one stays. `isLong`: it has several lines. */
export function SecretField(props: {
  readonly label: string;
  readonly description?: string;
  /** The words for the kept secret with its mask; null: there is none yet. */
  readonly mask: string | null;
  readonly replace: string;
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
  readonly error: string | undefined;
  readonly isLong?: boolean;
  readonly isRequired?: boolean;
}) {
  const {
    label,
    description,
    mask,
    replace,
    value,
    onChange,
    error,
    isLong = false,
    isRequired = false,
  } = props;
  const words = useWords(PROVIDER_KEY);
  if (mask !== null && value === null) {
    return (
      <Group gap="xs">
        <Code>{mask}</Code>
        <Button variant="default" onClick={() => onChange("")}>
          {replace}
        </Button>
      </Group>
    );
  }
  const field = {
    withAsterisk: isRequired,
    ...{ label, value: value ?? "", error, autoComplete: "off" },
    ...(description === undefined ? {} : { description }),
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  };
  return (
    <Group gap="xs" align="flex-end">
      {isLong ? (
        <Textarea {...field} rows={4} flex={1} spellCheck={false} placeholder="-----BEGIN PRIVATE KEY-----" />
      ) : (
        <PasswordInput {...field} flex={1} />
      )}
      {mask !== null && (
        <Button variant="default" onClick={() => onChange(null)}>
          {words.keep}
        </Button>
      )}
    </Group>
  );
}
