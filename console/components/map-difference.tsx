// What a save would change, entry by entry: what comes, what goes, and what leads elsewhere.

import { Text } from "@mantine/core";
import type { MapChange } from "../api/map-text.ts";

const SIGNS = { added: "+", removed: "−", changed: "±" } as const;

const kindOf = ({ before, after }: MapChange): keyof typeof SIGNS =>
  before === null ? "added" : after === null ? "removed" : "changed";

/** What a page calls a difference and its kinds. */
interface DifferenceWords {
  readonly difference: string;
  readonly noDifference: string;
  readonly added: string;
  readonly removed: string;
  readonly changed: string;
}

/** The difference; signs and words say what colours say. */
export function MapDifference(props: {
  readonly changes: readonly MapChange[];
  readonly words: DifferenceWords;
}) {
  const { changes, words } = props;
  if (changes.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        {words.noDifference}
      </Text>
    );
  }
  return (
    <div>
      <Text size="xs" fw={600} mb={2}>
        {words.difference}
      </Text>
      <ul className="map-difference" aria-label={words.difference}>
        {changes.map((change) => {
          const kind = kindOf(change);
          return (
            <li key={change.left} data-change={kind}>
              <b>{SIGNS[kind]}</b> {change.left}={" "}
              {kind === "changed" ? (
                <>
                  <del>{change.before}</del> → <ins>{change.after}</ins>
                </>
              ) : (
                (change.after ?? change.before)
              )}{" "}
              <Text span inherit c="dimmed">
                {words[kind]}
              </Text>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
