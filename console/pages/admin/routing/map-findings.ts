// What is wrong, or without effect, in the maps of routing, as far as the maps and the pool show it. An account may have maps and a
// Level of its own, so what depends on those is never called wrong.

import type { MapEntry, MapName, Maps } from "../../../api/map-text.ts";
import { applyingPattern, hiddenBy } from "../../../api/pattern.ts";

/** What is known of the keys of a Level. */
export interface KeysOfLevel {
  readonly keys: number;
  readonly enabled: number;
}

/** The pool by Level; null: not all of it is known, and nothing is said of Levels. */
export type PoolByLevel = ReadonlyMap<number, KeysOfLevel> | null;

/** One finding about an entry. A problem refuses requests; a notice says that the entry does not do what it seems to. */
export type Finding =
  | { readonly kind: "problem"; readonly code: "no_keys" | "all_disabled"; readonly level: number }
  | {
      readonly kind: "problem";
      readonly code: "leads_to_no_keys";
      readonly model: string;
      readonly level: number;
    }
  | { readonly kind: "notice"; readonly code: "hidden"; readonly by: string }
  | { readonly kind: "notice"; readonly code: "own_level"; readonly model: string }
  | { readonly kind: "notice"; readonly code: "renamed"; readonly to: string }
  | { readonly kind: "notice"; readonly code: "mapped_once"; readonly model: string; readonly to: string }
  | { readonly kind: "notice"; readonly code: "too_many"; readonly first: string }
  | { readonly kind: "notice"; readonly code: "no_way_in"; readonly level: number };

/** Backup models that are tried (contract section 4). */
const BACKUPS_TRIED = 5;

/** Findings by map and left side. */
export type Findings = Readonly<Record<MapName, ReadonlyMap<string, readonly Finding[]>>>;

/** Looks through all maps. */
export function findingsOf(maps: Maps, pool: PoolByLevel): Findings {
  const look = new Look(maps, pool);
  const of = (name: MapName, found: (entry: MapEntry) => readonly Finding[]) =>
    new Map(
      maps[name].flatMap((entry) => {
        const all = [...look.hidden(name, entry), ...found(entry)];
        return all.length === 0 ? [] : [[entry.left, all] as const];
      }),
    );
  return {
    MODEL_MAPPER: of("MODEL_MAPPER", (entry) => [...look.served(entry.right), ...look.mappedOnce(entry)]),
    LEVEL_MAPPER: of("LEVEL_MAPPER", (entry) => [...look.level(Number(entry.right)), ...look.renamed(entry)]),
    SWITCH_OVER: of("SWITCH_OVER", (entry) => [...look.level(Number(entry.right)), ...look.noWayIn(entry)]),
    MODEL_FAILOVER: of("MODEL_FAILOVER", (entry) => [...look.backups(entry), ...look.renamed(entry)]),
  };
}

/** The maps and the pool, and what can be asked about one entry. */
class Look {
  readonly #lefts: Readonly<Record<MapName, readonly string[]>>;

  constructor(
    private readonly maps: Maps,
    private readonly pool: PoolByLevel,
  ) {
    const leftsOf = (name: MapName) => maps[name].map(({ left }) => left);
    this.#lefts = {
      MODEL_MAPPER: leftsOf("MODEL_MAPPER"),
      LEVEL_MAPPER: leftsOf("LEVEL_MAPPER"),
      SWITCH_OVER: leftsOf("SWITCH_OVER"),
      MODEL_FAILOVER: leftsOf("MODEL_FAILOVER"),
    };
  }

  /** A pattern whose names all go to another entry first. */
  hidden(name: MapName, { left }: MapEntry): readonly Finding[] {
    const by = hiddenBy(this.#lefts[name], left);
    return by === null ? [] : [{ kind: "notice", code: "hidden", by }];
  }

  /** A Level that cannot answer. */
  level(level: number): readonly Finding[] {
    if (this.pool === null) return [];
    const found = this.pool.get(level);
    if (found === undefined || found.keys === 0) return [{ kind: "problem", code: "no_keys", level }];
    return found.enabled === 0 ? [{ kind: "problem", code: "all_disabled", level }] : [];
  }

  /** A model that requests are sent to. */
  served(model: string): readonly Finding[] {
    const left = applyingPattern(this.#lefts.LEVEL_MAPPER, model);
    if (left === null) return [{ kind: "notice", code: "own_level", model }];
    const level = Number(this.maps.LEVEL_MAPPER.find((entry) => entry.left === left)!.right);
    return this.level(level).length === 0
      ? []
      : [{ kind: "problem", code: "leads_to_no_keys", model, level }];
  }

  /** Each map applies once: what an entry leads to is not led on. */
  mappedOnce({ left, right }: MapEntry): readonly Finding[] {
    const to = this.#mapped(right);
    const isOn = to !== null && to !== right && left !== right;
    return isOn ? [{ kind: "notice", code: "mapped_once", model: right, to }] : [];
  }

  /** An exact name that requests do not have any more when they come to this map. */
  renamed({ left }: MapEntry): readonly Finding[] {
    if (left.includes("*")) return [];
    const to = this.#mapped(left);
    const isReached =
      to === null ||
      to === left ||
      this.maps.MODEL_MAPPER.some(({ right }) => right === left) ||
      this.maps.MODEL_FAILOVER.some(({ right }) => right.split("|").includes(left));
    return isReached ? [] : [{ kind: "notice", code: "renamed", to: to! }];
  }

  /** Backup models, of which only the first few are tried. */
  backups({ right }: MapEntry): readonly Finding[] {
    const models = right.split("|").map((model) => model.trim());
    const beyond = models[BACKUPS_TRIED];
    return [
      ...models.slice(0, BACKUPS_TRIED).flatMap((model) => this.served(model)),
      ...(beyond === undefined ? [] : [{ kind: "notice", code: "too_many", first: beyond } as const]),
    ];
  }

  /** A Level without keys refuses before it switches over, so its backup is reached only by way of another Level. */
  noWayIn({ left }: MapEntry): readonly Finding[] {
    const level = Number(left);
    if (this.pool === null || (this.pool.get(level)?.keys ?? 0) > 0) return [];
    const isReached = this.maps.SWITCH_OVER.some(({ right }) => Number(right) === level);
    return isReached ? [] : [{ kind: "notice", code: "no_way_in", level }];
  }

  /** What MODEL_MAPPER makes of a model; null: nothing. */
  #mapped(model: string): string | null {
    const left = applyingPattern(this.#lefts.MODEL_MAPPER, model);
    return left === null ? null : this.maps.MODEL_MAPPER.find((entry) => entry.left === left)!.right;
  }
}
