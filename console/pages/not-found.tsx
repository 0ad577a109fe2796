// The page of an address that does not exist for this key.

import { Empty } from "../components/empty.tsx";
import { Page } from "../components/page.tsx";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** Says that there is no such page. */
export function NotFound() {
  const { notFound } = useWords(SHELL);
  return (
    <Page title={notFound.title}>
      <Empty text={notFound.advice} />
    </Page>
  );
}
