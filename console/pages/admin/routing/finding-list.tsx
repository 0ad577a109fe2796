// What is odd about an entry of a map, in words. A problem refuses requests; a notice says that an entry has less effect than it
// seems to have.

import { Text } from "@mantine/core";
import { useWords } from "../../../i18n/language.ts";
import { ROUTING } from "../../../i18n/routing.ts";
import type { Finding } from "./map-findings.ts";

type Words = (typeof ROUTING)["en"]["findings"];

/** Says one finding. */
function textOf(finding: Finding, words: Words): string {
  switch (finding.code) {
    case "no_keys":
    case "all_disabled":
    case "no_way_in":
      return words[finding.code](finding.level);
    case "leads_to_no_keys":
      return words.leads_to_no_keys(finding.model, finding.level);
    case "hidden":
      return words.hidden(finding.by);
    case "own_level":
      return words.own_level(finding.model);
    case "renamed":
      return words.renamed(finding.to);
    case "mapped_once":
      return words.mapped_once(finding.model, finding.to);
    case "too_many":
      return words.too_many(finding.first);
  }
}

/** The findings about one entry, each a line that begins with its kind. */
export function FindingList({ findings }: { readonly findings: readonly Finding[] }) {
  const words = useWords(ROUTING);
  return findings.map((finding) => {
    const text = textOf(finding, words.findings);
    const isProblem = finding.kind === "problem";
    return (
      <Text key={text} size="xs" component="div" className="finding" data-finding={finding.code}>
        <Text span inherit fw={600} c={isProblem ? "var(--console-negative)" : "dimmed"}>
          {isProblem ? words.problem : words.notice}
        </Text>{" "}
        {text}
      </Text>
    );
  });
}
