// The foot of the menu: language, appearance, and the way out.

import { Box, Group, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { chooseLanguage, LANGUAGES, type Language, useLanguage, useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import { SignOut } from "./sign-out.tsx";

const SCHEMES = ["light", "dark", "auto"] as const;

/** What a person chooses for this browser. */
export function Preferences() {
  const words = useWords(SHELL);
  const language = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Box px="xs" py="xs" className="preferences">
      <Choices label={words.language}>
        {(Object.keys(LANGUAGES) as Language[]).map((one) => (
          <Choice key={one} isChosen={one === language} choose={() => chooseLanguage(one)} lang={one}>
            {LANGUAGES[one]}
          </Choice>
        ))}
      </Choices>
      <Choices label={words.scheme.label}>
        {SCHEMES.map((scheme) => (
          <Choice key={scheme} isChosen={scheme === colorScheme} choose={() => setColorScheme(scheme)}>
            {words.scheme[scheme]}
          </Choice>
        ))}
      </Choices>
      <SignOut fullWidth />
    </Box>
  );
}

function Choices(props: { readonly label: string; readonly children: React.ReactNode }) {
  return (
    <Group gap="xs" role="group" aria-label={props.label} wrap="nowrap">
      {props.children}
    </Group>
  );
}

function Choice(props: {
  readonly isChosen: boolean;
  readonly choose: () => void;
  readonly lang?: string;
  readonly children: React.ReactNode;
}) {
  const { isChosen, choose, lang, children } = props;
  return (
    <UnstyledButton
      fz="xs"
      py={2}
      onClick={choose}
      aria-pressed={isChosen}
      fw={isChosen ? 700 : 400}
      {...(lang === undefined ? {} : { lang })}
    >
      {children}
    </UnstyledButton>
  );
}
