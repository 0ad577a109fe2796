// The contract of a dialect the stand-in speaks: read a request, say an answer whole or as events.
// One sibling per dialect; the provider, the script and the faults know only this.

import type { Answer, Ask } from "./answer.ts";
import type { Wording } from "./faults.ts";
import type { Fields, FilePart } from "./form.ts";
import type { Refusal } from "./refusal.ts";
import type { Piece } from "./score.ts";
import type { Script } from "./script.ts";
import type { Headers } from "./wire.ts";

/** A request read: what is asked and the scripts it carries, or why it is refused. */
export type Reading =
  | { readonly ok: true; readonly ask: Ask; readonly scripts: readonly Script[] }
  | { readonly ok: false; readonly refusal: Refusal };

/** A mention of something kept, and how its absence is answered. */
export interface Reference {
  readonly id: string;
  readonly missing: Refusal;
}

/** A request as it came, for what only its dialect asks. */
export interface Sent {
  readonly body: Fields;
  readonly files: readonly FilePart[];
}

/** One answer about to be said. */
export interface Serving extends Sent {
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
  /** Whether it takes forms as well as JSON. */
  readonly forms?: true;
  /** What the ids of its answers begin with. */
  readonly idPrefix: string;
  /** The key of a request; empty without one. */
  keyOf(path: string, headers: Headers): string;
  /** What real providers add to every answer, some of which a gateway must keep to itself. */
  manners(id: string): Headers;
  read(body: Fields, headers: Headers, files: readonly FilePart[]): Reading;
  /** What is made, where it is not words. */
  readonly answer?: (ask: Ask, script: Script, sent: Sent) => Answer;
  whole(serving: Serving): string | Uint8Array;
  stream(serving: Serving): Piece[];
  wording(serving: Serving): Wording;
  /** The content type where it is neither JSON nor, streamed, events. */
  readonly contentType?: (serving: Serving, streamed: boolean) => string;
  /** What the provider keeps for the key, by id: to be asked for, deleted, referred to. */
  readonly keeps?: (serving: Serving) => Readonly<Record<string, object>>;
  /** The kept things that a request refers to. */
  readonly refers?: (body: Fields) => readonly Reference[];
  /** Why the key cannot read something encrypted in the request, or misses it; null where it can. */
  readonly unreadable?: (body: Fields, script: Script) => Refusal | null;
}
