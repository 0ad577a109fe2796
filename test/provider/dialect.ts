// The contract of a dialect the stand-in speaks: read a request, say an answer whole or as events.
// One sibling per dialect; the provider, the script and the faults know only this.

import type { Answer, Ask } from "./answer.ts";
import type { Wording } from "./faults.ts";
import type { Refusal } from "./refusal.ts";
import type { Piece } from "./score.ts";
import type { Script } from "./script.ts";
import type { Headers } from "./wire.ts";

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
  /** In which words it refuses. */
  readonly style: "chat" | "messages";
  /** False where only something is counted: nothing is generated, so nothing is owed. */
  readonly generates: boolean;
  /** What the ids of its answers begin with. */
  readonly idPrefix: string;
  /** The key of a request; empty without one. */
  keyOf(path: string, headers: Headers): string;
  /** What real providers add to every answer, some of which a gateway must keep to itself. */
  manners(id: string): Headers;
  read(body: Readonly<Record<string, unknown>>, headers: Headers): Reading;
  whole(serving: Serving): string;
  stream(serving: Serving): Piece[];
  wording(serving: Serving): Wording;
}
