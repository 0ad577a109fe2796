// What going back to a version of the configuration would change, computed from the history. Pure.

import type { Answers } from "./answers.ts";

/** The newest versions, the newest first. */
type Versions = Answers["/x-config/history"]["versions"];

/** What becomes different of a setting. */
export interface SettingChange {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The one setting whose earlier values are not kept: it stays as it is. */
const NOT_KEPT = "EMAIL_PASS";

/** Returns what differs between now and a version. `versions` are at least all later ones. */
export function changesBackTo(version: number, versions: Versions): SettingChange[] {
  const changes = new Map<string, SettingChange>();
  for (const later of versions) {
    if (later.version <= version) break;
    for (const [name, { before, after }] of Object.entries(later.changes)) {
      // The way back begins with the newest value and ends with the oldest one.
      changes.set(name, { name, before: changes.get(name)?.before ?? after, after: before });
    }
  }
  changes.delete(NOT_KEPT);
  return [...changes.values()];
}
