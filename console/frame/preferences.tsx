// The foot of the menu: language, appearance, and the way out.

import { Box, Button, Group, UnstyledButton, useMantineColorScheme } from "@mantine/core";
import { useLocation } from "wouter";
import { signOut } from "../api/session.ts";
import { chooseLanguage, LANGUAGES, type Language, useLanguage, useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

const SCHEMES = ["light", "dark", "auto"] as const;

/** What a person chooses for this browser. */
export function Preferences() {
  const words = useWords(SHELL);
  const language = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [, navigate] = useLocation();
  const leave = () => {
    // The next account begins at its own Home, and not where this account was.
    navigate("/");
    signOut("signed_out");
  };
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
      <Button variant="default" fullWidth mt={6} onClick={leave}>
        {words.signOut}
      </Button>
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
