// The score of an answer: the pieces of its body, when each is played, and how it ends. And the player.
// Faults bend a score before it is played; nothing here knows what the pieces say.

import type { Exchange, Headers } from "./wire.ts";

export interface Piece {
  readonly data: string | Uint8Array;
  /** Tokens the provider has generated once this piece is out. */
  readonly tokens: number;
}

/** `end` is proper; `rst` and `fin` cut the connection; `stall` leaves it open and silent. */
export type Ending = "end" | "rst" | "fin" | "stall";

export interface Score {
  readonly pieces: readonly Piece[];
  readonly ending: Ending;
  /** Set for a whole answer: the length the head promises, kept or not. */
  readonly lengthBytes?: number;
  readonly firstMs: number;
  readonly gapMs: number;
}

export type Outcome = "complete" | "cut" | "aborted";

export async function play(
  exchange: Exchange,
  head: { readonly status: number; readonly headers: Headers },
  score: Score,
  served: (tokens: number) => void,
): Promise<Outcome> {
  exchange.open(head.status, head.headers, score.lengthBytes);
  if (score.firstMs > 0 && !(await exchange.wait(score.firstMs))) return "aborted";
  let first = true;
  for (const piece of score.pieces) {
    if (!first && score.gapMs > 0 && !(await exchange.wait(score.gapMs))) return "aborted";
    first = false;
    exchange.send(piece.data);
    served(piece.tokens);
  }
  return finish(exchange, score.ending);
}

/** Ends an answer, or a connection that never got one. */
export async function finish(exchange: Exchange, ending: Ending): Promise<Outcome> {
  switch (ending) {
    case "end":
      exchange.end();
      return exchange.gone ? "aborted" : "complete";
    case "stall":
      await exchange.untilGone();
      return "aborted";
    default:
      await exchange.cut(ending);
      return "cut";
  }
}
