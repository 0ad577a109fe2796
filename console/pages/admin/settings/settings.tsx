// The settings of an Owner that have no page of their own: paths, thresholds of balances, mail. Each with its default, where its
// value comes from, and the way back to the default.

import { Button, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { type Configuration, useBasis, useConfiguration } from "../../../api/configuration.ts";
import { isRoot } from "../../../api/role.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { ConfigForm } from "../../../components/config-form.tsx";
import { Page } from "../../../components/page.tsx";
import { Section } from "../../../components/section.tsx";
import { useStatus } from "../../../frame/status.ts";
import { useWords } from "../../../i18n/language.ts";
import { SETTING_WORDS } from "../../../i18n/settings.ts";
import { SHELL } from "../../../i18n/shell.ts";
import {
  isSet,
  SETTING_GROUPS,
  SETTINGS,
  type SettingGroup,
  type SettingName,
  settingsDraft,
  settingText,
  type TypedSettings,
} from "./setting-fields.ts";
import { SettingRow, type SettingSource } from "./setting-row.tsx";
import { TestMail } from "./test-mail.tsx";

const NOTHING: TypedSettings = {};
const GROUPS = Object.keys(SETTING_GROUPS) as readonly SettingGroup[];

/** The page of settings. */
export default function Settings() {
  const { page } = useWords(SHELL);
  const words = useWords(SETTING_WORDS);
  const asked = useConfiguration();
  return (
    <Page title={page.settings} about={words.about}>
      <AskedState asked={asked} rows={10}>
        {(newest) => <SettingsForm newest={newest} />}
      </AskedState>
    </Page>
  );
}

function SettingsForm({ newest }: { readonly newest: Configuration }) {
  const [typed, setTyped] = useState(NOTHING);
  const { cancel } = useWords(SHELL);
  const words = useWords(SETTING_WORDS);
  const status = useStatus();
  const basis = useBasis(newest, Object.keys(typed).length > 0);
  const { settings } = basis.former;
  const { body, unreadable } = settingsDraft(typed, settings);
  const changed = Object.keys(body);
  const isReady = changed.length > 0 && unreadable.length === 0;
  const onText = (name: SettingName, text: string) => setTyped(withText(typed, name, text, settings));
  const row = (name: SettingName) => (
    <SettingRow
      key={name}
      name={name}
      text={typed[name] ?? (SETTINGS[name].kind === "secret" ? "" : settingText(name, settings))}
      hasSecret={isSet(name, settings) && typed[name] === undefined}
      isUnreadable={unreadable.includes(name)}
      isChanged={changed.includes(name)}
      source={sourceOf(name, settings, isRoot(status))}
      onText={(text) => onText(name, text)}
      onReset={() => setTyped({ ...typed, [name]: SETTINGS[name].defaultText })}
    />
  );
  return (
    <ConfigForm
      basis={basis}
      write={isReady ? { method: "PUT", path: "/x-config", body } : null}
      submit={words.save(changed.length)}
      onDone={() => setTyped(NOTHING)}
      beside={
        changed.length > 0 && (
          <Button variant="default" onClick={() => setTyped(NOTHING)}>
            {cancel}
          </Button>
        )
      }
    >
      <Stack gap="sm">
        {GROUPS.map((group) => (
          <Section key={group} title={words.groups[group]}>
            <Text size="sm" c="dimmed" mb={8}>
              {words.groupAbout[group]}
            </Text>
            {SETTING_GROUPS[group].map(row)}
            {group === "mail" && (
              <TestMail
                hasServer={isSet("EMAIL_SMTP", settings)}
                isChanged={SETTING_GROUPS.mail.some((name) => changed.includes(name))}
              />
            )}
          </Section>
        ))}
      </Stack>
    </ConfigForm>
  );
}

/** Where the value of a setting comes from. Without a mail server of its own an Owner's mails go over Root's. */
function sourceOf(name: SettingName, settings: Configuration["settings"], isOfRoot: boolean): SettingSource {
  if (isSet(name, settings)) return "set";
  return name === "EMAIL_SMTP" && !isOfRoot ? "root" : "default";
}

/** Returns what is typed with one more text. A password that was emptied again stays as it is. */
function withText(
  typed: TypedSettings,
  name: SettingName,
  text: string,
  settings: Configuration["settings"],
): TypedSettings {
  const { [name]: _, ...others } = typed;
  const isUntouched = SETTINGS[name].kind === "secret" ? text === "" : text === settingText(name, settings);
  return isUntouched ? others : { ...others, [name]: text };
}
