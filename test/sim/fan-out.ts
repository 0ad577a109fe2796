// Checker 11: the map in effect of every account is what it would be had each cascade been written into every account
// below, one after another: the last word on a pattern counts, a deletion deletes, a clearing clears, and who was born
// later got what had been laid before. Such a naive fan-out is only defined for changes that came one after another, so
// it is fed by runs in which they did. An Owner's going back takes back what it laid since, and brings back what it had
// taken away; of a pattern that the account deletes itself meanwhile, either may be the last word, so nothing is said.

import { effectiveMap, type MapName, type MapSource } from "../../actors/account/map-overrides.ts";
import { isOwner, isRoot } from "../../actors/account/state.ts";
import { ownerOf, ROOT } from "../../actors/ids.ts";
import type { MapEdits } from "../../actors/owner/map-edits.ts";
import type { ConfigChecker } from "./check-configs.ts";
import { difference } from "./check-documents.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

export type AnyEdits = MapEdits<unknown>;

/** Words of one moment on maps. */
interface Word {
  readonly field: MapName;
  readonly edits: AnyEdits;
}

export interface FanOut {
  /** An account's own change of a map, made while this was its Owner. */
  own(account: number, owner: number, word: Word): void;
  /** A version of an Owner's configuration: what it lays on all below, and to which version it goes back. */
  version(owner: number, version: number, laid: readonly Word[], back?: number): void;
  /** Notes that it is not known what became of a change, or in which order: there is nothing to compare with any more. */
  lost(): void;
  /** Compares an account as it is, while nothing is changing. */
  look(profile: MapSource): void;
  atRest(): Promise<void>;
}

interface Laid {
  /** Its place in the order of all changes. */
  readonly order: number;
  readonly words: readonly Word[];
}

interface OwnWord extends Word {
  readonly order: number;
  readonly owner: number;
}

const NAME = "11 maps";

export function fanOut(
  parts: { readonly disk: SimDisk; readonly configs: ConfigChecker; readonly trace: Trace },
  orderly: boolean,
): FanOut {
  const { disk, configs, trace } = parts;
  const own = new Map<number, OwnWord[]>();
  /** By Owner: what lies on the accounts below as of each version. */
  const laid = new Map<number, Map<number, readonly Laid[]>>();
  let order = 0;
  let known = orderly;
  /** By Owner: what it took back or brought back by going back. */
  const wavered = new Map<number, Word[]>();

  const layers = (owner: number): Map<number, readonly Laid[]> => {
    const found = laid.get(owner) ?? new Map([[0, []]]);
    laid.set(owner, found);
    return found;
  };
  const newest = (owner: number): readonly Laid[] => [...layers(owner).values()].at(-1)!;

  /** Every change that the account would have seen, in order, applied to an empty map. */
  function replayed(profile: MapSource, field: MapName): Record<string, unknown> {
    const owner = ownerOf(profile);
    const seen = [
      ...(own.get(profile.id) ?? []).map((word) => ({ order: word.order, words: [word as Word] })),
      ...(isOwner(profile) ? [] : newest(owner)),
      ...(isRoot(profile) ? [] : newest(ROOT)),
    ].sort((a, b) => a.order - b.order);
    const map: Record<string, unknown> = {};
    for (const { words } of seen) {
      for (const { edits } of words.filter((word) => word.field === field)) apply(map, edits);
    }
    return map;
  }

  /** Deleted by the account itself, and taken or brought back above it. */
  function isOpen(profile: MapSource, field: MapName, pattern: string): boolean {
    const about = (word: Word) =>
      word.field === field && (word.edits.clear || word.edits.changes.some((one) => one.pattern === pattern));
    const deletes = ({ edits }: Word) =>
      edits.clear || edits.changes.some((one) => one.pattern === pattern && one.value === null);
    const above = [ownerOf(profile), ROOT].flatMap((owner) => wavered.get(owner) ?? []);
    return above.some(about) && (own.get(profile.id) ?? []).some((word) => about(word) && deletes(word));
  }

  function look(profile: MapSource): void {
    if (!known) return;
    const owner = ownerOf(profile);
    // What somebody said under another Owner is older than whatever the present one laid, whenever that was.
    if (own.get(profile.id)?.some((word) => word.owner !== owner)) return;
    const above = { owner: configs.config(owner), root: configs.config(ROOT) };
    for (const field of ["modelMapper", "modelLimits"] as const) {
      const found = Object.entries<{ readonly value: unknown }>(effectiveMap(profile, above, field));
      const said = ([pattern]: readonly [string, unknown]) => !isOpen(profile, field, pattern);
      const map = found.map(([pattern, { value }]) => [pattern, value] as const).filter(said);
      const naive = Object.entries(replayed(profile, field)).filter(said);
      const wrong = difference(Object.fromEntries(map), Object.fromEntries(naive), "");
      if (wrong !== "") trace.violate(NAME, `${field} of account ${profile.id}: ${wrong}`);
      trace.count(found.length === 0 ? "maps compared, empty" : "maps compared");
    }
  }

  return {
    own(account, owner, word) {
      const words = own.get(account) ?? [];
      own.set(account, words);
      words.push({ ...word, owner, order: ++order });
    },
    version(owner, version, words, back) {
      const before = back === undefined ? newest(owner) : (layers(owner).get(back) ?? []);
      if (back !== undefined) {
        const changed = new Set(before).symmetricDifference(new Set(newest(owner)));
        const words = [...changed].flatMap((one) => one.words);
        wavered.set(owner, [...(wavered.get(owner) ?? []), ...words]);
      }
      const after = words.length === 0 ? before : [...before, { order: ++order, words }];
      layers(owner).set(version, after);
    },
    lost() {
      if (known) trace.count("order of maps lost");
      known = false;
    },
    look,
    async atRest() {
      const accounts = await disk.store.find({ table: "accounts", where: [], order: "id" });
      for (const account of accounts) if (account.closed === 0) look(account as unknown as MapSource);
    },
  };
}

function apply(map: Record<string, unknown>, { clear, changes }: AnyEdits): void {
  if (clear) for (const pattern of Object.keys(map)) delete map[pattern];
  for (const { pattern, value } of changes) {
    if (value === null) delete map[pattern];
    else map[pattern] = value;
  }
}
