// The way out: in the menu, and where there is no menu.

import { Button } from "@mantine/core";
import { useLocation } from "wouter";
import { signOut } from "../api/session.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** The button that signs out. */
export function SignOut(props: { readonly fullWidth?: boolean }) {
  const words = useWords(SHELL);
  const [, navigate] = useLocation();
  const leave = () => {
    // The next account begins at its own Home, and not where this account was.
    navigate("/");
    signOut("signed_out");
  };
  return (
    <Button variant="default" mt={6} onClick={leave} {...props}>
      {words.signOut}
    </Button>
  );
}
