// The foot of a paged list: which rows these are, and the way to the pages beside them.

import { Button, Group, Text } from "@mantine/core";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** A page of a list as answers state it; `total` is null where the server does not count. */
export interface PageOfList {
  readonly page: number;
  readonly size: number;
  readonly total: number | null;
  readonly has_more: boolean;
}

/** The pager of a list; nothing where all rows are on one page. */
export function Pager(props: {
  readonly list: PageOfList;
  readonly shown: number;
  readonly onPage: (page: number) => void;
}) {
  const { list, shown, onPage } = props;
  const { page, size, total, has_more } = list;
  const words = useWords(SHELL);
  if (page === 1 && !has_more) return null;
  const from = (page - 1) * size + 1;
  const to = from + shown - 1;
  return (
    <Group justify="space-between" component="nav" mt="xs" aria-label={words.nextPage}>
      <Text size="xs" c="dimmed" className="figure">
        {total === null ? words.rowsUncounted(from, to) : words.rows(from, to, total.toLocaleString("en"))}
      </Text>
      <Group gap="xs">
        <Button variant="default" disabled={page === 1} onClick={() => onPage(page - 1)}>
          ← {words.previousPage}
        </Button>
        <Button variant="default" disabled={!has_more} onClick={() => onPage(page + 1)}>
          {words.nextPage} →
        </Button>
      </Group>
    </Group>
  );
}
