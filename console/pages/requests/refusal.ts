// Why a request was refused: which limit its code speaks of, and what stands against it now. It decides nothing itself: the
// figures are those of `/dashboard/explain`, the lists those of `/dashboard/live`.

import type { Answers } from "../../api/answers.ts";

/** A limit as an explanation shows it. */
export type LimitRow = Answers["/dashboard/explain"]["limits"][number];
type Restrictions = Answers["/dashboard/live"]["restrictions"];

/** The name of the limit that a code speaks of. */
const LIMIT_OF: Readonly<Record<string, string>> = {
  rpm_exceeded: "rpm",
  rph_exceeded: "rph",
  rpd_exceeded: "rpd",
  tpm_exceeded: "tpm",
  tph_exceeded: "tph",
  tpd_exceeded: "tpd",
  insufficient_balance: "balance",
  hard_limit_reached: "hard_limit",
  daily_limit_reached: "daily_limit",
};

/** The list that a code speaks of. */
const LIST_OF: Readonly<Record<string, keyof Restrictions>> = {
  ip_not_allowed: "allow_ips",
  model_not_allowed: "allow_models",
  level_not_allowed: "allow_levels",
  path_not_allowed: "resources",
};

/** Returns the limits that a refusal may have come from, the tightest first; none for a code that speaks of no limit. */
export function limitsBehind(code: string, limits: readonly LimitRow[]): readonly LimitRow[] {
  const name = LIMIT_OF[code];
  const isLess = (one: LimitRow, other: LimitRow) => (one.remaining < other.remaining ? -1 : 1);
  return limits.filter((limit) => limit.name === name).toSorted(isLess);
}

/** Returns the account's own list that a refusal may have come from; null for a code that speaks of none. */
export function listBehind(
  code: string,
  restrictions: Restrictions,
): { readonly name: keyof Restrictions; readonly items: readonly string[] } | null {
  const name = LIST_OF[code];
  return name === undefined ? null : { name, items: restrictions[name].map(String) };
}

/** Returns the whole seconds until an instant, at least 0. */
export const secondsUntil = (at: string, nowMs: number): number =>
  Math.max(0, Math.ceil((Date.parse(at) - nowMs) / 1_000));
