// Says where administration is when it has an address of its own, and leads there.

import { Anchor, Text } from "@mantine/core";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

/** The way to a page of administration at `url`; `path` is below /console. */
export function AdministrationLink({ url, path }: { readonly url: string; readonly path: string }) {
  const words = useWords(SHELL);
  return (
    <>
      <Text size="xs" c="dimmed">
        {words.elsewhere}
      </Text>
      <Anchor size="sm" href={`${url}/console${path}`} rel="noreferrer noopener">
        {words.openElsewhere}
      </Anchor>
    </>
  );
}
