// The page of an address that does not exist for this key, or not here.

import { useLocation } from "wouter";
import { administrationElsewhere, isAdministration } from "../api/administration.ts";
import { AdministrationLink } from "../components/administration-link.tsx";
import { Empty } from "../components/empty.tsx";
import { Page } from "../components/page.tsx";
import { useStatus } from "../frame/status.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** Says that there is no such page, or where it is. */
export function NotFound() {
  const { notFound } = useWords(SHELL);
  const [path] = useLocation();
  const url = administrationElsewhere(useStatus());
  return (
    <Page title={notFound.title}>
      {url !== null && isAdministration(path) ? (
        <AdministrationLink url={url} path={path} />
      ) : (
        <Empty text={notFound.advice} />
      )}
    </Page>
  );
}
