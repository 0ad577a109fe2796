// The kinds of requests that the benchmark asks for, and what is aimed at for the CPU time of each as a ratio to the
// pass-through's. It measures nothing.

import type { Ask } from "./styles.ts";

export interface Kind extends Ask {
  readonly what: string;
  /** How many accounts share the requests. */
  readonly accounts: number;
  readonly target: string;
  readonly must: string;
}

export const WHOLE: Kind = {
  what: "whole, 1 account",
  accounts: 1,
  stream: false,
  target: "≤ 2.0",
  must: "≤ 2.5",
};

/** All accounts below one Owner. A commit carries fewer charges of each than with one account. */
export const SPREAD: Kind = {
  ...WHOLE,
  what: "whole, 100 accounts",
  accounts: 100,
  target: "≤ 2.2",
  must: "≤ 3.0",
};

export const IN_ONE_PIECE: Kind = {
  what: "stream of 100 events in one piece",
  accounts: 1,
  stream: true,
  target: "≤ 1.3",
  must: "≤ 1.4",
};

export const ONE_BY_ONE: Kind = {
  ...IN_ONE_PIECE,
  what: "stream of 100 events one by one",
  word: "bench-apart",
};

/** The kind when the provider's style is not the client's. */
export const translatedKind = (kind: Kind): Kind => ({ ...kind, target: "≤ 2.5", must: "≤ 3.0" });
