// The requests between nodes and their answers: one union of frames. It never retries and never forwards: a
// node answers for itself.
//
// kind      request                                                       answer
// command   run a turn of an actor                                        its reply, or `too_large`
// holdsReasserted   none: the sender did so on these shards              null
// reassertHolds     do so on an actor whose activation failed             null, when that is done
// stats     report counters and gauges                                    both
// save      store the documents of all that is committed                  whether it was in time
// reload    drop an actor, so that it is read from the store again        whether the node is the owner
// query     ask a part outside the runtime                                what that part answers

import type { Log } from "../../base/log.ts";
import { type Bus, TooLarge } from "../../bus/bus.ts";
import { decode, encode } from "../../bus/codec.ts";
import type { ActorRef, Envelope, Reply } from "../actor.ts";
import { PROTOCOL_VERSION } from "../protocol-version.ts";
import type { SystemStats } from "../stats.ts";

/** A shard and the epoch of its owner. */
export type ShardEpoch = readonly [shard: number, epoch: number];

/** Request and answer of each kind. */
interface NodeMessages {
  readonly command: { readonly request: { readonly envelope: Envelope }; readonly answer: Reply };
  readonly holdsReasserted: {
    readonly request: { readonly node: string; readonly shards: readonly ShardEpoch[] };
    readonly answer: null;
  };
  readonly reassertHolds: { readonly request: { readonly actor: ActorRef }; readonly answer: null };
  readonly stats: { readonly request: object; readonly answer: SystemStats };
  readonly save: { readonly request: { readonly ms: number }; readonly answer: boolean };
  readonly reload: { readonly request: { readonly actor: ActorRef }; readonly answer: boolean };
  readonly query: {
    readonly request: { readonly name: string; readonly input: unknown };
    readonly answer: unknown;
  };
}

/** The functions that answer the requests of other nodes. */
export type NodeRequestHandlers = {
  readonly [K in keyof NodeMessages]: (
    frame: NodeMessages[K]["request"],
  ) => NodeMessages[K]["answer"] | Promise<NodeMessages[K]["answer"]>;
};

export interface NodeProtocol {
  /**
   * Sends a request and returns the answer. Throws as the bus does: Unreachable and TooLarge mean not
   * executed, any other error executed or not. It always returns a promise. `ms` is the timeout.
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

const REPLY_TOO_LARGE: Reply = { ok: false, code: "too_large" };

/**
 * Creates the protocol over a bus. A frame of another version, or of an unknown kind, is logged and answered
 * with an error; its sender may try another node.
 */
export function createNodeProtocol(bus: Bus, log: Log, handlers: NodeRequestHandlers): NodeProtocol {
  function encodeAnswer(answer: unknown): string {
    const frame = encode(answer);
    return frame.length > bus.frameLengthMax ? encode(REPLY_TOO_LARGE) : frame;
  }

  function answer(text: string): string | Promise<string> {
    const frame = decode(text) as { readonly v: number; readonly kind: keyof NodeMessages };
    if (frame.v !== PROTOCOL_VERSION || !Object.hasOwn(handlers, frame.kind)) {
      log("warn", "protocol_mismatch", { theirs: frame.v, own: PROTOCOL_VERSION, kind: String(frame.kind) });
      throw new Error(`a frame of node protocol ${frame.v}; this node speaks ${PROTOCOL_VERSION}`);
    }
    const handle = handlers[frame.kind] as (request: unknown) => unknown;
    const answered = handle(frame);
    return answered instanceof Promise ? answered.then(encodeAnswer) : encodeAnswer(answered);
  }

  return {
    call(node, kind, request, ms) {
      let frame: string;
      try {
        frame = encode({ ...request, v: PROTOCOL_VERSION, kind });
      } catch (error) {
        return Promise.reject(error);
      }
      if (frame.length > bus.frameLengthMax) {
        return Promise.reject(new TooLarge(`a frame of ${frame.length} characters for ${node}`));
      }
      return bus.request(node, frame, ms).then(decode) as Promise<never>;
    },
    serve: (node) => bus.serve(node, answer),
  };
}
