// The button and the keys that open the search. The search itself is loaded when it is first opened.

import { Text, UnstyledButton } from "@mantine/core";
import { useEffect, useState } from "react";
import { loadLater } from "../components/load-later.tsx";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import type { PageEntry } from "../pages/page-table.tsx";

const Search = loadLater(() => import("./search.tsx"));

/** Opens the search over these pages by a click, or by Ctrl-K. */
export function SearchLauncher({ pages }: { readonly pages: readonly PageEntry[] }) {
  const words = useWords(SHELL);
  // Each opening has a number, so that the search opens anew.
  const [opened, setOpened] = useState(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOpened((count) => count + 1);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <UnstyledButton onClick={() => setOpened(opened + 1)} fz="sm" c="dimmed" title={words.search}>
        {words.searchShort}{" "}
        <Text span size="xs" className="key-hint" visibleFrom="md">
          {words.searchHint}
        </Text>
      </UnstyledButton>
      {opened > 0 && <Search pages={pages} opened={opened} />}
    </>
  );
}
