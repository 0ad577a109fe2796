// Who a new account is: its name, whose rule is shown while it is typed, its e-mail address, and the credit it begins with.

import { SimpleGrid, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { useWords } from "../../i18n/language.ts";
import { NEW_ACCOUNT } from "../../i18n/new-account.ts";
import { characterCount, type NameFault, nameFault } from "./name-fault.ts";

/** The fields that every new account needs; `credit` and `days` are inputs of the form. */
export function WhoFields(props: {
  readonly name: string;
  readonly setName: (name: string) => void;
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly credit: ReactNode;
  readonly days: ReactNode;
}) {
  const { name, setName, email, setEmail, credit, days } = props;
  const words = useWords(NEW_ACCOUNT);
  const fault = nameFault(name);
  const textOf = (broken: NameFault): string =>
    broken === "length" ? words.nameFault.length(characterCount(name)) : words.nameFault[broken];
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
      <TextInput
        label={words.name}
        description={words.nameRule}
        inputWrapperOrder={["label", "input", "description", "error"]}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoComplete="off"
        withAsterisk
        data-autofocus
        {...(fault === null ? {} : { error: textOf(fault) })}
      />
      <TextInput
        label={words.email}
        type="email"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
        autoComplete="off"
        withAsterisk
      />
      {credit}
      {days}
    </SimpleGrid>
  );
}
