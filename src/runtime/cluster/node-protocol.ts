// What nodes say to each other: one union of frames, and for each kind its answer. It never retries, and what it is asked
// it never asks on: a node answers for itself.
//
// kind      asks                                                            answer
// command   a turn of an actor                                              its reply; `too_large` in place of one that does not fit
// told      nothing: what the sender holds of these shards is told again    null
// forgot    to tell again what it holds of an actor that forgot it          null, once it is told
// stats     how the node is                                                 its counters and gauges
// save      documents and snapshots of all it has committed                 in time?
// reload    to forget an actor, so that it is read anew from the store      is it the owner?

import type { SystemStats } from "../../base/log.ts";
import { type Bus, TooLarge } from "../../bus/bus.ts";
import { decode, encode } from "../../bus/codec.ts";
import type { ActorRef, Envelope, Reply } from "../actor.ts";

/** A shard in the epoch of its owner. */
export type ShardEpoch = readonly [shard: number, epoch: number];

/** By kind: what is asked, and what is answered. */
interface Talk {
  readonly command: { readonly asks: { readonly envelope: Envelope }; readonly answers: Reply };
  readonly told: {
    readonly asks: { readonly node: string; readonly terms: readonly ShardEpoch[] };
    readonly answers: null;
  };
  readonly forgot: { readonly asks: { readonly actor: ActorRef }; readonly answers: null };
  readonly stats: { readonly asks: object; readonly answers: SystemStats };
  readonly save: { readonly asks: { readonly ms: number }; readonly answers: boolean };
  readonly reload: { readonly asks: { readonly actor: ActorRef }; readonly answers: boolean };
}

export type Answering = {
  readonly [K in keyof Talk]: (frame: Talk[K]["asks"]) => Promise<Talk[K]["answers"]>;
};

export interface NodeProtocol {
  /** Throws as the bus does: Unreachable and TooLarge mean not executed, anything else executed or not. */
  call<K extends keyof Talk>(
    node: string,
    kind: K,
    asks: Talk[K]["asks"],
    ms: number,
  ): Promise<Talk[K]["answers"]>;
  /** Resolves when frames for this node are heard. */
  serve(node: string): Promise<void>;
}

const VERSION = 1;
const REPLY_TOO_LARGE: Reply = { ok: false, code: "too_large" };

export function createNodeProtocol(bus: Bus, answering: Answering): NodeProtocol {
  async function answer(bytes: Uint8Array): Promise<Uint8Array> {
    const frame = decode(bytes) as { readonly v: number; readonly kind: keyof Talk };
    // Of a later version of this program: who sent it hears that nothing is known, and may try another node.
    if (frame.v !== VERSION || !Object.hasOwn(answering, frame.kind))
      throw new Error("a frame of another version");
    const handle = answering[frame.kind] as (asked: unknown) => Promise<unknown>;
    const answered = encode(await handle(frame));
    return answered.length > bus.maxFrame ? encode(REPLY_TOO_LARGE) : answered;
  }

  return {
    async call(node, kind, asks, ms) {
      const frame = encode({ ...asks, v: VERSION, kind });
      if (frame.length > bus.maxFrame) throw new TooLarge(`a frame of ${frame.length} bytes for ${node}`);
      return decode(await bus.request(node, frame, ms)) as never;
    },
    serve: (node) => bus.serve(node, answer),
  };
}
