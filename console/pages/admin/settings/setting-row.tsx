// One setting: what it is for, its field, its default, and where its value comes from.

import { Badge, Button, Code, PasswordInput, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { useWords } from "../../../i18n/language.ts";
import { SETTING_WORDS } from "../../../i18n/settings.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { SETTINGS, type SettingKind, type SettingName } from "./setting-fields.ts";

/** Where the value of a setting comes from: this Owner, the system, or Root's mail server in its place. */
export type SettingSource = "set" | "default" | "root";

/** The words of a default that is not shown as its text. */
const DEFAULT_WORDS: Partial<
  Record<SettingKind, (words: { readonly yes: string; readonly no: string }) => string>
> = { flag: ({ no }) => no, switch: ({ yes }) => yes };

interface SettingRowProps {
  readonly name: SettingName;
  /** The text in the field. */
  readonly text: string;
  /** Whether a password is kept already. */
  readonly hasSecret: boolean;
  readonly isUnreadable: boolean;
  readonly isChanged: boolean;
  readonly source: SettingSource;
  readonly onText: (text: string) => void;
  readonly onReset: () => void;
}

/** A row of the settings. `onReset`: the default is put into the field. */
export function SettingRow(props: SettingRowProps) {
  const { name, source, isChanged, onReset } = props;
  const words = useWords(SETTING_WORDS);
  const shell = useWords(SHELL);
  const { defaultText, kind } = SETTINGS[name];
  return (
    <div className="setting-row">
      <div>
        <Text size="sm" fw={600} component="label" htmlFor={name}>
          {words.names[name]}
        </Text>
        <Text size="xs" c="dimmed" id={`${name}-hint`}>
          {words.hints[name]}
        </Text>
        <Code className="setting-key">{name}</Code>
      </div>
      <SettingField {...props} />
      <div className="setting-source">
        <Badge
          tt="none"
          color={isChanged || source === "set" ? "arbor" : "gray"}
          variant={isChanged ? "outline" : "light"}
        >
          {isChanged ? words.isChanged : words.source[source]}
        </Badge>
        <Text size="xs" c="dimmed">
          {words.defaultIs(DEFAULT_WORDS[kind]?.(shell) ?? (defaultText || shell.none))}
        </Text>
        {(source === "set" || isChanged) && (
          <Button
            variant="subtle"
            color="gray"
            size="compact-xs"
            onClick={onReset}
            aria-label={words.resetOf(name)}
          >
            {words.reset}
          </Button>
        )}
      </div>
    </div>
  );
}

function SettingField({ name, text, hasSecret, isUnreadable, onText }: SettingRowProps) {
  const words = useWords(SETTING_WORDS);
  const { kind } = SETTINGS[name];
  const common = {
    id: name,
    "aria-describedby": `${name}-hint`,
    value: text,
    spellCheck: false,
    autoComplete: "off",
    onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
      onText(event.currentTarget.value),
    ...(isUnreadable ? { error: kind === "usd" ? words.invalidAmount : words.invalidPort } : {}),
  };
  switch (kind) {
    case "flag":
      return (
        <Switch
          id={name}
          aria-describedby={`${name}-hint`}
          checked={text === "true"}
          onChange={(event) => onText(String(event.currentTarget.checked))}
        />
      );
    case "switch":
      return (
        <Switch
          id={name}
          aria-describedby={`${name}-hint`}
          checked={text === "on"}
          onChange={(event) => onText(event.currentTarget.checked ? "on" : "off")}
        />
      );
    case "paths":
      return <Textarea {...common} autosize minRows={2} maxRows={8} placeholder={words.everyPath} />;
    case "secret":
      return (
        <PasswordInput
          {...common}
          autoComplete="new-password"
          placeholder={hasSecret ? words.secretIsSet : words.secretIsNone}
        />
      );
    case "usd":
      return <TextInput {...common} inputMode="decimal" leftSection="$" />;
    case "port":
      return <TextInput {...common} inputMode="numeric" />;
    case "text":
      return <TextInput {...common} />;
  }
}
