// What to do about a refusal, by its code. Loaded after a failure.

import { Text } from "@mantine/core";
import { ADVICE } from "../i18n/advice.ts";
import { useWords } from "../i18n/language.ts";

/** The advice for a code; nothing for one that this version does not know. */
export default function FailureAdvice({ code }: { readonly code: string }) {
  const advice: Readonly<Record<string, string>> = useWords(ADVICE);
  return Object.hasOwn(advice, code) ? <Text size="sm">{advice[code]}</Text> : null;
}
