// The pool by Level: which keys a Level has, which models lead to it, where its requests go when its keys fail. Computed from what
// the service answers; it decides nothing.

import type { Answers } from "../../../api/answers.ts";

/** A provider key as lists show it. */
export type KeyRow = Answers["/x-keys"]["keys"][number];
/** What is configured and which keys are out of use. */
export type Conf = Answers["/x-conf"];
/** A sleep, wake or switch-over. */
export type KeyEvent = Answers["/x-events"]["events"][number];

/** One Level with what belongs to it. */
export interface LevelOfPool {
  readonly level: number;
  readonly keys: readonly KeyRow[];
  /** Entries of LEVEL_MAPPER that lead here. */
  readonly patterns: readonly string[];
  /** What SWITCH_OVER names; null: nothing. */
  readonly backup: number | null;
  /** Whether another Level's requests come here when that one fails. */
  readonly isBackup: boolean;
  /** Until when requests go to the backup instead (ISO 8601); null: they do not. */
  readonly switchedUntil: string | null;
}

/** States in which a key gets requests. */
export const isUsable = ({ State }: Pick<KeyRow, "State">): boolean =>
  State === "normal" || State === "waking";

/** What needs somebody stands first, what works follows in the order of the ids. */
const URGENCY: Readonly<Record<KeyRow["State"], number>> = {
  sleeping: 0,
  resting: 1,
  waking: 2,
  normal: 3,
  disabled: 4,
};

/** Returns the Levels in their order: those that have keys, and those to which an entry leads although they have none. */
export function levelsOf(
  keys: readonly KeyRow[],
  conf: Pick<Conf, "LevelMapper" | "SwitchOver">,
  events: readonly KeyEvent[] = [],
  nowMs = 0,
): readonly LevelOfPool[] {
  const byLevel = Map.groupBy(keys, ({ Level }) => Level);
  const named = [...Object.values(conf.LevelMapper), ...Object.values(conf.SwitchOver)];
  const levels = [...new Set([...byLevel.keys(), ...named])].sort((one, other) => one - other);
  return levels.map((level) => ({
    level,
    keys: (byLevel.get(level) ?? []).toSorted(
      (one, other) => URGENCY[one.State] - URGENCY[other.State] || one.ID - other.ID,
    ),
    patterns: Object.entries(conf.LevelMapper).flatMap(([pattern, to]) => (to === level ? [pattern] : [])),
    backup: conf.SwitchOver[String(level)] ?? null,
    isBackup: Object.values(conf.SwitchOver).includes(level),
    switchedUntil: switchedUntil(level, events, nowMs),
  }));
}

/** Events are the newest first; the newest switch-over of a Level says how long it lasts. */
function switchedUntil(level: number, events: readonly KeyEvent[], nowMs: number): string | null {
  const last = events.find((event) => event.type === "switch_over" && event.level === level);
  return last?.until !== undefined && Date.parse(last.until) > nowMs ? last.until : null;
}

/** Whether a key is meant by what was typed: a part of its name or host, or its id. */
export function isFound(
  { ID, Name, Provider }: Pick<KeyRow, "ID" | "Name" | "Provider">,
  text: string,
): boolean {
  const wanted = text.trim().toLowerCase();
  return (
    wanted === "" ||
    String(ID) === wanted ||
    Name.toLowerCase().includes(wanted) ||
    hostOf(Provider).toLowerCase().includes(wanted)
  );
}

/** Returns the host of a provider's address, with its port. */
export const hostOf = (provider: string): string => URL.parse(provider)?.host ?? provider;
