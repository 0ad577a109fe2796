// The requests between nodes and their answers: one union of frames. It never retries and never forwards: a
// node answers for itself.
//
// kind      request                                                       answer
// command   run a turn of an actor                                        its reply, or `too_large`
// told      none: the sender has re-asserted its holds on these shards    null
// forgot    re-assert your holds on an actor whose activation failed      null, when that is done
// stats     report counters and gauges                                    both
// save      store documents and snapshots of all that is committed        whether it was in time
// reload    drop an actor, so that it is read from the store again        whether the node is the owner

import type { SystemStats } from "../../base/log.ts";
import { type Bus, TooLarge } from "../../bus/bus.ts";
import { decode, encode } from "../../bus/codec.ts";
import type { ActorRef, Envelope, Reply } from "../actor.ts";

/** A shard and the epoch of its owner. */
export type ShardEpoch = readonly [shard: number, epoch: number];

/** Request and answer of each kind. */
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

/** The functions that answer the requests of other nodes. */
export type Answering = {
  readonly [K in keyof Talk]: (frame: Talk[K]["asks"]) => Promise<Talk[K]["answers"]>;
};

export interface NodeProtocol {
  /**
   * Sends a request and returns the answer. Throws as the bus does: Unreachable and TooLarge mean not
   * executed, any other error executed or not. `ms` is the timeout.
   */
  call<K extends keyof Talk>(
    node: string,
    kind: K,
    asks: Talk[K]["asks"],
    ms: number,
  ): Promise<Talk[K]["answers"]>;
  /** Resolves when requests to this node are received. */
  serve(node: string): Promise<void>;
}

const VERSION = 1;
const REPLY_TOO_LARGE: Reply = { ok: false, code: "too_large" };

/** Creates the protocol over a bus. Frames of another version are answered with an error. */
export function createNodeProtocol(bus: Bus, answering: Answering): NodeProtocol {
  async function answer(bytes: Uint8Array): Promise<Uint8Array> {
    const frame = decode(bytes) as { readonly v: number; readonly kind: keyof Talk };
    // The frame comes from another version of this program. Its sender gets an error and may try another
    // node.
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
