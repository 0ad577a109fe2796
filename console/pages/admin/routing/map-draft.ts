// A map while it is edited: as rows or as text, whichever was typed in last. Both are read by the same rules, so what is shown as a
// difference is what is sent.

import { type ItemFault, type MapEntry, readMap, textOf } from "../../../api/map-text.ts";

/** A row of the table; its number only tells rows apart. */
export interface DraftRow extends MapEntry {
  readonly nth: number;
}

/** What is typed so far. */
export type MapDraft =
  | { readonly as: "table"; readonly rows: readonly DraftRow[] }
  | { readonly as: "text"; readonly text: string };

/** Above so many entries a map begins as text: hundreds of input fields are slow, and nobody reads them. */
const ROWS_MAX = 60;

const rowsOf = (entries: readonly MapEntry[]): readonly DraftRow[] =>
  entries.map((entry, nth) => ({ ...entry, nth }));

/** Returns the draft of a map that has these entries. */
export const mapDraftOf = (entries: readonly MapEntry[]): MapDraft =>
  entries.length > ROWS_MAX
    ? { as: "text", text: textOf(entries) }
    : { as: "table", rows: entries.length === 0 ? [emptyRow([])] : rowsOf(entries) };

/** Returns an empty row after these. */
export const emptyRow = (rows: readonly DraftRow[]): DraftRow => ({
  left: "",
  right: "",
  nth: 1 + Math.max(-1, ...rows.map(({ nth }) => nth)),
});

/** Returns the same draft in the other form. Items that are no entries are lost where rows are made of a text. */
export function converted(draft: MapDraft, as: MapDraft["as"]): MapDraft {
  if (draft.as === as) return draft;
  if (draft.as === "table") return { as: "text", text: textOf(draft.rows) };
  return { as: "table", rows: rowsOf(readMap(draft.text).entries) };
}

/** Reads a draft. */
export const readDraft = (draft: MapDraft): { entries: readonly MapEntry[]; faults: readonly ItemFault[] } =>
  readMap(draft.as === "text" ? draft.text : textOf(draft.rows));

/** Whether a fault stands against saving; of an entry that is there twice the later one counts. */
export const isBlocking = ({ kind }: ItemFault): boolean => kind !== "twice";

/** Writes the entries as they are sent: one line. */
export const sentText = (entries: readonly MapEntry[]): string =>
  entries.map(({ left, right }) => `${left}=${right}`).join(",");
