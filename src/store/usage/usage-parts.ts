// Usage of one account in one period by API key and by tag, and for hours by model: which parts of it are kept apart, and which
// are added up as `(other)`. The first ones of a period, in the order of the ledger, are kept apart, so that a fold of the
// ledger always gives the same parts. Nothing here is stored.
//
// A charge of the main key, or without a tag of some name, is in no part: it is what the parts leave of the whole.

import { StoredRow } from "../stored-rows.ts";
import type { ChargeRow } from "./charge-rows.ts";
import { SUMS } from "./usage-rows.ts";

/** What a part is of. They are stored. */
export const PART_KINDS = { model: 0, apiKey: 1, tag: 2 } as const;
export type PartKind = (typeof PART_KINDS)[keyof typeof PART_KINDS];

/** The value of the part that has what is not kept apart, and the name of the part of tags whose names are not. */
export const OTHER = "(other)";

/**
 * A part of a period's usage. `sums` are in the order of SUMS. The name is a tag's and "" for the other kinds; the value is a
 * tag's, a model, or the id of an API key.
 */
export interface PeriodPart {
  readonly kind: PartKind;
  readonly name: string;
  readonly value: string;
  /** The newest name of an API key; null for the other kinds. */
  readonly label: string | null;
  readonly sums: readonly number[];
}

const isPartKind = (kind: number): kind is PartKind => kind === 0 || kind === 1 || kind === 2;

/** A part as it is stored. Throws `StoredRowError` for what none is. */
export function parsePart(stored: unknown): PeriodPart {
  const row = new StoredRow("usageParts", stored);
  const kind = row.integer("kind");
  if (!isPartKind(kind)) return row.fail("kind", "0, 1 or 2");
  return {
    kind,
    name: row.text("name"),
    value: row.text("value"),
    label: row.textOrNull("label"),
    sums: SUMS.map((sum) => row.integer(sum)),
  };
}

/** How many parts of each kind are kept apart beside `(other)`, for an account and a period. */
const PARTS_MAX: Readonly<Record<PartKind, number>> = {
  [PART_KINDS.model]: 1_000,
  // With the main key 400.
  [PART_KINDS.apiKey]: 399,
  [PART_KINDS.tag]: 1_000,
};

/** The parts of one account and period that are stored already. */
export interface StoredParts {
  has(kind: PartKind, name: string, value: string): boolean;
  /** Whether any part of a tag of this name is there. */
  hasTag(name: string): boolean;
  /** How many parts of a kind are kept apart. */
  count(kind: PartKind): number;
}

/** Parts of one account and period in memory. */
export class PartsTable implements StoredParts {
  readonly #parts = new Map<string, PeriodPart>();
  readonly #tags = new Set<string>();
  readonly #counts = { [PART_KINDS.model]: 0, [PART_KINDS.apiKey]: 0, [PART_KINDS.tag]: 0 };

  constructor(parts: Iterable<PeriodPart> = []) {
    this.add(parts);
  }

  has(kind: PartKind, name: string, value: string): boolean {
    return this.#parts.has(keyOf(kind, name, value));
  }

  hasTag(name: string): boolean {
    return this.#tags.has(name);
  }

  count(kind: PartKind): number {
    return this.#counts[kind];
  }

  /** Adds each of these parts to the one that it is of. */
  add(parts: Iterable<PeriodPart>): void {
    for (const part of parts) {
      const key = keyOf(part.kind, part.name, part.value);
      const known = this.#parts.get(key);
      this.#parts.set(key, known === undefined ? part : joined(known, part));
      if (part.kind === PART_KINDS.tag) this.#tags.add(part.name);
      if (known === undefined && part.value !== OTHER) this.#counts[part.kind]++;
    }
  }

  parts(): readonly PeriodPart[] {
    return [...this.#parts.values()];
  }
}

const joined = (a: PeriodPart, b: PeriodPart): PeriodPart => ({
  ...a,
  label: b.label ?? a.label,
  sums: a.sums.map((sum, i) => sum + b.sums[i]!),
});

const keyOf = (kind: PartKind, name: string, value: string): string => `${kind}\n${name}\n${value}`;

interface OpenPart extends PeriodPart {
  label: string | null;
  readonly sums: number[];
}

/** What charges of one account and period add to its parts. They are given in the order of the ledger. */
export class PartsFold {
  readonly #stored: StoredParts;
  readonly #added = new Map<string, OpenPart>();
  /** The names of tags among what is added. */
  readonly #tags = new Set<string>();
  /** How many parts of each kind there are; null before the first new one. */
  readonly #counts: Record<PartKind, number | null> = {
    [PART_KINDS.model]: null,
    [PART_KINDS.apiKey]: null,
    [PART_KINDS.tag]: null,
  };

  constructor(stored: StoredParts) {
    this.#stored = stored;
  }

  /** What is to be added to the stored parts. */
  added(): Iterable<PeriodPart> {
    return this.#added.values();
  }

  addModel({ model, sums }: ChargeRow): void {
    this.#addTo(this.#place(PART_KINDS.model, "", model) ?? this.#open(PART_KINDS.model, "", OTHER), sums);
  }

  /** Adds a charge to the parts of its API key and of its tags. */
  addApart({ apiKey, apiKeyName, tags, sums }: ChargeRow): void {
    if (apiKey !== 0) {
      const { apiKey: kind } = PART_KINDS;
      const part = this.#place(kind, "", String(apiKey));
      if (part !== null) part.label = apiKeyName ?? part.label;
      this.#addTo(part ?? this.#open(kind, "", OTHER), sums);
    }
    let isNameless = false;
    for (const [name, value] of tags) {
      const part = this.#place(PART_KINDS.tag, name, value) ?? this.#otherOf(name);
      if (part === null) isNameless = true;
      else this.#addTo(part, sums);
    }
    if (isNameless) this.#addTo(this.#open(PART_KINDS.tag, OTHER, OTHER), sums);
  }

  /** The part that is kept apart; null when it comes after so many others. */
  #place(kind: PartKind, name: string, value: string): OpenPart | null {
    const known = this.#find(kind, name, value);
    if (known !== null) return known;
    const count = this.#counts[kind] ?? this.#stored.count(kind);
    if (count >= PARTS_MAX[kind]) return null;
    this.#counts[kind] = count + 1;
    return this.#open(kind, name, value);
  }

  /** The part of the values of a tag that are not kept apart; null when no value of this name is. */
  #otherOf(name: string): OpenPart | null {
    const isKnown = this.#tags.has(name) || this.#stored.hasTag(name);
    return isKnown ? this.#open(PART_KINDS.tag, name, OTHER) : null;
  }

  #find(kind: PartKind, name: string, value: string): OpenPart | null {
    const isKnown = this.#added.has(keyOf(kind, name, value)) || this.#stored.has(kind, name, value);
    return isKnown ? this.#open(kind, name, value) : null;
  }

  #open(kind: PartKind, name: string, value: string): OpenPart {
    const key = keyOf(kind, name, value);
    const known = this.#added.get(key);
    if (known !== undefined) return known;
    const part: OpenPart = { kind, name, value, label: null, sums: [0, 0, 0, 0, 0, 0, 0] };
    this.#added.set(key, part);
    if (kind === PART_KINDS.tag) this.#tags.add(name);
    return part;
  }

  #addTo({ sums }: OpenPart, more: readonly number[]): void {
    for (let i = 0; i < sums.length; i++) sums[i]! += more[i]!;
  }
}

/** A part whose sums are negated, to take away what it has. */
export const negated = (part: PeriodPart): PeriodPart => ({ ...part, sums: part.sums.map((sum) => -sum) });
