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

import { type Bus, TooLarge } from "../../bus/bus.ts";
import { decode, encode } from "../../bus/codec.ts";
import type { ActorRef, Envelope, Reply } from "../actor.ts";
import type { SystemStats } from "../stats.ts";

/** A shard and the epoch of its owner. */
export type ShardEpoch = readonly [shard: number, epoch: number];

/** Request and answer of each kind. */
interface NodeMessages {
  readonly command: { readonly request: { readonly envelope: Envelope }; readonly answer: Reply };
  readonly told: {
    readonly request: { readonly node: string; readonly terms: readonly ShardEpoch[] };
    readonly answer: null;
  };
  readonly forgot: { readonly request: { readonly actor: ActorRef }; readonly answer: null };
  readonly stats: { readonly request: object; readonly answer: SystemStats };
  readonly save: { readonly request: { readonly ms: number }; readonly answer: boolean };
  readonly reload: { readonly request: { readonly actor: ActorRef }; readonly answer: boolean };
}

/** The functions that answer the requests of other nodes. */
export type NodeRequestHandlers = {
  readonly [K in keyof NodeMessages]: (
    frame: NodeMessages[K]["request"],
  ) => Promise<NodeMessages[K]["answer"]>;
};

export interface NodeProtocol {
  /**
   * Sends a request and returns the answer. Throws as the bus does: Unreachable and TooLarge mean not
   * executed, any other error executed or not. `ms` is the timeout.
   */
  call<K extends keyof NodeMessages>(
    node: string,
    kind: K,
    request: NodeMessages[K]["request"],
    ms: number,
  ): Promise<NodeMessages[K]["answer"]>;
  /** Resolves when requests to this node are received. */
  serve(node: string): Promise<void>;
}

const VERSION = 1;
const REPLY_TOO_LARGE: Reply = { ok: false, code: "too_large" };

/** Creates the protocol over a bus. Frames of another version are answered with an error. */
export function createNodeProtocol(bus: Bus, handlers: NodeRequestHandlers): NodeProtocol {
  async function answer(bytes: Uint8Array): Promise<Uint8Array> {
    const frame = decode(bytes) as { readonly v: number; readonly kind: keyof NodeMessages };
    // The frame comes from another version of this program. Its sender gets an error and may try another
    // node.
    if (frame.v !== VERSION || !Object.hasOwn(handlers, frame.kind))
      throw new Error("a frame of another version");
    const handle = handlers[frame.kind] as (request: unknown) => Promise<unknown>;
    const answered = encode(await handle(frame));
    return answered.length > bus.frameBytesMax ? encode(REPLY_TOO_LARGE) : answered;
  }

  return {
    async call(node, kind, request, ms) {
      const frame = encode({ ...request, v: VERSION, kind });
      if (frame.length > bus.frameBytesMax)
        throw new TooLarge(`a frame of ${frame.length} bytes for ${node}`);
      return decode(await bus.request(node, frame, ms)) as never;
    },
    serve: (node) => bus.serve(node, answer),
  };
}
