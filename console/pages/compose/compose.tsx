// News to …: a text for one account, for all accounts below one, or for everybody, and what was published before.

import { Stack } from "@mantine/core";
import { Page } from "../../components/page.tsx";
import { Section } from "../../components/section.tsx";
import { useWords } from "../../i18n/language.ts";
import { NEWS } from "../../i18n/news.ts";
import { SHELL } from "../../i18n/shell.ts";
import { NewsForm } from "./news-form.tsx";
import { Published } from "./published.tsx";

/** The page on which news are written and withdrawn. */
export default function Compose() {
  const { page } = useWords(SHELL);
  const words = useWords(NEWS);
  return (
    <Page title={page.compose} about={words.composeAbout}>
      <Stack gap="sm">
        <Section title={words.write}>
          <NewsForm />
        </Section>
        <Section title={words.mineTitle}>
          <Published />
        </Section>
      </Stack>
    </Page>
  );
}
