// One field of an account in a form: its name as the API has it, what it does, and the text that is typed.

import { TextInput } from "@mantine/core";
import { FIELD_KINDS, type TextField } from "../api/account-fields.ts";
import { FIELD_HINTS, FIELD_WORDS } from "../i18n/account-fields.ts";
import { useWords } from "../i18n/language.ts";

/** An input for a field; `isUnreadable`: its text is none that could be sent. */
export function AccountField(props: {
  readonly field: TextField;
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly isUnreadable?: boolean;
  readonly isRequired?: boolean;
  readonly placeholder?: string;
}) {
  const { field, text, onText, isUnreadable = false, isRequired = false, placeholder } = props;
  const hints = useWords(FIELD_HINTS);
  const words = useWords(FIELD_WORDS);
  const kind = FIELD_KINDS[field];
  return (
    <TextInput
      label={field}
      description={hints[field]}
      inputWrapperOrder={["label", "input", "description", "error"]}
      value={text}
      onChange={(event) => onText(event.currentTarget.value)}
      inputMode={kind === "text" ? "text" : kind === "usd" || kind === "factor" ? "decimal" : "numeric"}
      autoComplete="off"
      spellCheck={false}
      withAsterisk={isRequired}
      {...(placeholder === undefined ? {} : { placeholder })}
      {...(isUnreadable ? { error: words[kind === "usd" ? "usd" : "number"] } : {})}
    />
  );
}
