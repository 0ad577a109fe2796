// The Owner's limits by model as a grid that is typed in: edits over what is saved, so that they stay when somebody else saves
// meanwhile; what is sent for them; and which limit holds for a model. Pure.

import { countText } from "../../../api/amount.ts";
import { applyingPattern } from "../../../api/pattern.ts";

/** The limits of a model: requests and tokens by minute, hour and day. */
export const LIMIT_FIELDS = ["rpm", "rph", "rpd", "tpm", "tph", "tpd"] as const;

/** One of them. */
export type LimitField = (typeof LIMIT_FIELDS)[number];
/** Limits by model or pattern of models. */
export type LimitMap = Readonly<Record<string, Readonly<Partial<Record<LimitField, number>>>>>;
/** The texts of a row. */
type LimitTexts = Readonly<Record<LimitField, string>>;
/** What is typed by pattern; null: the row is removed. */
export type LimitEdits = Readonly<Record<string, Readonly<Partial<LimitTexts>> | null>>;

/** A row of the grid. */
export interface GridRow {
  readonly pattern: string;
  readonly texts: LimitTexts;
  /** Cells whose text is no limit. */
  readonly unreadable: readonly LimitField[];
  /** Whether a limit that is saved is taken out of the row. */
  readonly losesLimit: boolean;
  readonly state: "saved" | "changed" | "new" | "removed";
}

/** The texts of a row without limits. */
export const NO_LIMIT_TEXTS: LimitTexts = { rpm: "", rph: "", rpd: "", tpm: "", tph: "", tpd: "" };

/** A limit that is saved, as the grid shows it. */
const textOf = (limit: number | undefined): string => (limit === undefined ? "" : countText(limit));

/** Reads a limit with or without groups of three; undefined: none is set; null: the text is no limit. */
function limitOf(text: string): number | undefined | null {
  const plain = text.normalize("NFKC").trim();
  if (plain === "") return undefined;
  if (!/^(\d{1,3}(,\d{3})+|\d+)$/.test(plain)) return null;
  const limit = Number(plain.replaceAll(",", ""));
  return Number.isSafeInteger(limit) ? limit : null;
}

/** Returns the rows of the grid: the saved ones in their order, then the new ones. */
export function gridRows(saved: LimitMap, edits: LimitEdits): GridRow[] {
  const patterns = new Set([...Object.keys(saved), ...Object.keys(edits)]);
  return [...patterns].flatMap((pattern) => {
    const isSaved = Object.hasOwn(saved, pattern);
    const edit = Object.hasOwn(edits, pattern) ? edits[pattern] : {};
    if (edit === null && !isSaved) return [];
    const limits = isSaved ? saved[pattern]! : {};
    const texts = Object.fromEntries(
      LIMIT_FIELDS.map((field) => [field, edit?.[field] ?? textOf(limits[field])]),
    ) as LimitTexts;
    const unreadable = LIMIT_FIELDS.filter((field) => limitOf(texts[field]) === null);
    const isChanged = LIMIT_FIELDS.some((field) => limitOf(texts[field]) !== limits[field]);
    const losesLimit = LIMIT_FIELDS.some(
      (field) => limits[field] !== undefined && limitOf(texts[field]) === undefined,
    );
    const state = edit === null ? "removed" : !isSaved ? "new" : isChanged ? "changed" : "saved";
    return [{ pattern, texts, unreadable, losesLimit, state } as const];
  });
}

/** Returns the limits of rows: those that would be in force. */
export const limitsOfRows = (rows: readonly GridRow[]): LimitMap =>
  Object.fromEntries(
    rows
      .filter(({ state }) => state !== "removed")
      .map(({ pattern, texts }) => [
        pattern,
        Object.fromEntries(
          LIMIT_FIELDS.flatMap((field) => {
            const limit = limitOf(texts[field]);
            return limit === undefined || limit === null ? [] : [[field, limit]];
          }),
        ),
      ]),
  );

/**
 * Returns the value of MODEL_LIMITS that is sent, or null when nothing differs or a cell cannot be read. An object is merged limit
 * by limit, so it has the entries that differ alone; where an entry or a limit goes the whole map is sent as a text, which replaces it.
 */
export function limitsBody(rows: readonly GridRow[]): LimitMap | string | null {
  const differing = rows.filter(({ state }) => state !== "saved");
  const isReadable = differing.every(
    ({ state, unreadable }) => state === "removed" || unreadable.length === 0,
  );
  if (differing.length === 0 || !isReadable) return null;
  const isRemoving = differing.some(({ state, losesLimit }) => state === "removed" || losesLimit);
  return isRemoving ? JSON.stringify(limitsOfRows(rows)) : limitsOfRows(differing);
}

/** A limit that holds, and the entry that sets it; null: nothing limits this. */
export interface HoldingLimit {
  readonly limit: number;
  readonly from: "own" | "owner";
}

/** Which entries apply to a model, and which limits hold. */
export interface HoldingLimits {
  /** The names of the entries that apply; null: none. */
  readonly own: string | null;
  readonly owner: string | null;
  readonly limits: Readonly<Record<LimitField, HoldingLimit | null>>;
}

/**
 * Returns what limits a model, field by field: the entry of the account, then that of the Owner, then the system's default, which
 * is no limit (specification, "Precedence of model limits").
 */
export function holdingLimits(model: string, ofAccount: LimitMap, ofOwner: LimitMap): HoldingLimits {
  const own = applyingPattern(Object.keys(ofAccount), model);
  const owner = applyingPattern(Object.keys(ofOwner), model);
  const limits = LIMIT_FIELDS.map((field) => {
    const first = own === null ? undefined : ofAccount[own]![field];
    const limit = first ?? (owner === null ? undefined : ofOwner[owner]![field]);
    if (limit === undefined || limit === 0) return [field, null];
    return [field, { limit, from: first === undefined ? "owner" : "own" }];
  });
  return { own, owner, limits: Object.fromEntries(limits) };
}
