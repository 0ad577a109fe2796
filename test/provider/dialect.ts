// The contract of a dialect the stand-in speaks: read a request, say an answer whole or as events.
// One sibling per dialect; the provider, the script and the faults know only this.

import type { Answer, Ask } from "./answer.ts";
import type { Wording } from "./faults.ts";
import type { Refusal } from "./refusals.ts";
import type { Piece } from "./score.ts";
import type { Script } from "./script.ts";

/** A request read: what is asked and the scripts it carries, or why it is refused. */
export type Reading =
  | { readonly ok: true; readonly ask: Ask; readonly scripts: readonly Script[] }
  | { readonly ok: false; readonly refusal: Refusal };

/** One answer about to be said. */
export interface Serving {
  readonly id: string;
  readonly createdS: number;
  readonly ask: Ask;
  readonly answer: Answer;
  readonly script: Script;
}

export interface Dialect {
  read(body: Readonly<Record<string, unknown>>): Reading;
  whole(serving: Serving): string;
  stream(serving: Serving): Piece[];
  wording(serving: Serving): Wording;
}
