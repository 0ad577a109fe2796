// Instants on a page: UTC as it is shown everywhere, the local one beside it when pointed at.

import { Text } from "@mantine/core";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

const twoDigits = (figure: number): string => String(figure).padStart(2, "0");

/** Returns an instant in UTC as 2026-11-23 04:05:06, without its seconds where `isShort`. */
export function utcText(at: string | number, isShort = false): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, isShort ? 16 : 19)}`;
}

function localText(at: string | number): string {
  const date = new Date(at);
  const day = `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
  return `${day} ${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`;
}

/** An instant in UTC; null is shown as `empty`. */
export function Time(props: {
  readonly at: string | number | null | undefined;
  readonly isShort?: boolean;
  /** What stands there without an instant; "never" by default. */
  readonly empty?: string;
}) {
  const { at, isShort = false, empty } = props;
  const { never, localTime } = useWords(SHELL);
  if (at === null || at === undefined) {
    return (
      <Text span size="sm" c="dimmed">
        {empty ?? never}
      </Text>
    );
  }
  return (
    <Text span size="sm" className="figure" title={localTime(localText(at))}>
      <time dateTime={new Date(at).toISOString()}>{utcText(at, isShort)}</time>
    </Text>
  );
}
