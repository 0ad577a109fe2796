// Ctrl-K: pages by their names, and for who manages accounts also accounts by id, name or e-mail address.

import { useDebouncedValue } from "@mantine/hooks";
import { Spotlight, type SpotlightActionData, spotlight } from "@mantine/spotlight";
import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { accountFilterOf } from "../api/account-filter.ts";
import { useGet } from "../api/queries.ts";
import { isAllowed } from "../api/role.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import type { PageEntry } from "../pages/page-table.tsx";
import { useStatus } from "./status.ts";

const ACCOUNTS_MAX = 8;
const TYPING_MS = 200;

/** The search over these pages; it opens whenever `opened` grows. */
export default function Search(props: { readonly pages: readonly PageEntry[]; readonly opened: number }) {
  const { pages, opened } = props;
  const words = useWords(SHELL);
  const [, navigate] = useLocation();
  const [text, setText] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: each number opens it once
  useEffect(() => spotlight.open(), [opened]);
  const accounts = useFoundAccounts(text.trim());
  const here: SpotlightActionData[] = pages
    .filter(({ menu }) => menu !== null)
    .map(({ name, path }) => ({
      id: path,
      label: words.page[name],
      group: words.pages,
      onClick: () => navigate(path),
    }));
  const found: SpotlightActionData[] = accounts.map(({ ID, Name, Email, DNA }) => ({
    id: `account-${ID}`,
    label: Name,
    description: `${Email} · ${DNA}`,
    // What was typed finds it, whatever the fields are that matched.
    keywords: [text],
    group: words.accountsFound,
    onClick: () => navigate(`/accounts/${ID}`),
  }));
  return (
    <Spotlight
      actions={[...here, ...found]}
      query={text}
      onQueryChange={setText}
      shortcut={null}
      nothingFound={words.nothingFound}
      highlightQuery
      limit={ACCOUNTS_MAX + pages.length}
      transitionProps={{ duration: 0 }}
      searchProps={{ placeholder: words.search, "aria-label": words.search }}
    />
  );
}

function useFoundAccounts(text: string) {
  const status = useStatus();
  const [settled] = useDebouncedValue(text, TYPING_MS);
  const enabled = settled.length > 0 && isAllowed(status, "manage");
  const asked = useGet(
    "/x-dna",
    { ...accountFilterOf(settled), page: 1, size: ACCOUNTS_MAX },
    { enabled, everyMs: 0 },
  );
  return enabled && Array.isArray(asked.data) ? asked.data : [];
}
