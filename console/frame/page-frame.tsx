// The frame around every page: header, menu by role, search, and the way out. It is plain markup and a grid of CSS, because it is
// loaded before anything else.

import { Anchor, Box, Burger, Group, Text, UnstyledButton } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { Link, useLocation, useRoute } from "wouter";
import { administrationElsewhere } from "../api/administration.ts";
import { isRoot } from "../api/role.ts";
import { AdministrationLink } from "../components/administration-link.tsx";
import { Amount } from "../components/amount.tsx";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import type { MenuGroup, PageEntry } from "../pages/page-table.tsx";
import { Preferences } from "./preferences.tsx";
import { SearchLauncher } from "./search-launcher.tsx";
import { useStatus } from "./status.ts";

const GROUPS: readonly MenuGroup[] = ["account", "accounts", "administration", "root"];

/** The frame with the menu of these pages. */
export function PageFrame(props: { readonly pages: readonly PageEntry[]; readonly children: ReactNode }) {
  const { pages, children } = props;
  const [isOpen, setOpen] = useState(false);
  const [path] = useLocation();
  const words = useWords(SHELL);
  // A page that was chosen closes the menu of narrow screens, and begins at its top.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs for every new path
  useEffect(() => {
    setOpen(false);
    scrollTo(0, 0);
  }, [path]);
  return (
    <div className="frame">
      <a className="skip-link" href="#page">
        {words.skip}
      </a>
      <header className="frame-header">
        <Group gap="xs" wrap="nowrap">
          <Burger
            opened={isOpen}
            onClick={() => setOpen(!isOpen)}
            hiddenFrom="sm"
            size="sm"
            aria-label={words.menu}
            aria-expanded={isOpen}
          />
          <Anchor component={Link} href="/" fw={700} c="inherit" underline="never">
            {words.product}
          </Anchor>
        </Group>
        <Who pages={pages} />
      </header>
      <nav className="frame-menu" data-open={isOpen || undefined} aria-label={words.menu}>
        <div className="frame-menu-content">
          {GROUPS.map((group) => (
            <MenuPart key={group} group={group} pages={pages.filter((page) => page.menu === group)} />
          ))}
          <AdministrationElsewhere />
          <Preferences />
        </div>
      </nav>
      <main id="page" tabIndex={-1} className="frame-page">
        {children}
      </main>
    </div>
  );
}

/** Who is signed in, what it has, and the search. */
function Who({ pages }: { readonly pages: readonly PageEntry[] }) {
  const status = useStatus();
  return (
    <Group gap="md" wrap="nowrap">
      <SearchLauncher pages={pages} />
      <Text size="sm" fw={600} truncate maw={180} visibleFrom="sm" title={`${status.email} · ${status.dna}`}>
        {status.name}
      </Text>
      {!isRoot(status) && (
        <span>
          <Amount value={status.balance} /> <span className="unit">USD</span>
        </span>
      )}
    </Group>
  );
}

function MenuPart({ group, pages }: { readonly group: MenuGroup; readonly pages: readonly PageEntry[] }) {
  const words = useWords(SHELL);
  if (pages.length === 0) return null;
  return (
    <Box mb="xs">
      <Text size="xs" c="dimmed" px="xs" py={2} fw={600}>
        {words.groups[group]}
      </Text>
      {pages.map((page) => (
        <MenuLink key={page.path} page={page} />
      ))}
    </Box>
  );
}

function MenuLink({ page }: { readonly page: PageEntry }) {
  const words = useWords(SHELL);
  const [isHere] = useRoute(page.path);
  return (
    <UnstyledButton
      component={Link}
      href={page.path}
      className="menu-link"
      {...(isHere ? { "aria-current": "page" as const } : {})}
    >
      {words.page[page.name]}
    </UnstyledButton>
  );
}

/** Where administration has an address of its own, its pages are there and nowhere else. */
function AdministrationElsewhere() {
  const url = administrationElsewhere(useStatus());
  if (url === null) return null;
  return (
    <Box px="xs" py="xs">
      <AdministrationLink url={url} path="/" />
    </Box>
  );
}
