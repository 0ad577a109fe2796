// Reads a provider's large whole answer in a worker thread, and keeps of it what its charge and its response need.

import type { CancelSignal } from "../../base/cancellation.ts";
import type { ExchangeOrigin } from "../codec/provider-codec.ts";
import type { AnswerFacts, LargeAnswer } from "./jobs.ts";
import { packedNames } from "./packed-names.ts";
import type { LargeBodies } from "./worker-pool.ts";

/** A large answer as it arrived, and how it is read. `blocks` are handed over. */
interface ArrivedAnswer extends Pick<LargeAnswer, "contentType" | "fingerprint"> {
  readonly blocks: readonly Uint8Array<ArrayBuffer>[];
  readonly origin: ExchangeOrigin;
}

/** Returns what a large answer says, and its bytes for the client. Rejects with the signal's reason when it aborts. */
export async function readLargeAnswer(
  large: LargeBodies,
  { blocks, contentType, fingerprint, origin }: ArrivedAnswer,
  signal: CancelSignal,
): Promise<AnswerFacts> {
  const { output } = await large.run(
    "answer",
    {
      pieces: blocks,
      contentType,
      fingerprint,
      origin: packed(origin),
    },
    blocks.map(({ buffer }) => buffer),
    signal,
  );
  return output;
}

function packed(origin: ExchangeOrigin): LargeAnswer["origin"] {
  if (origin.kind === "stored") return origin;
  const { payload: _, ...request } = origin.request;
  return { ...origin, request, toolNames: packedNames(origin.toolNames) };
}
