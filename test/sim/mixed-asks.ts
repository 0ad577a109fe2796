// How a node asks its actors, drawn for each command: on the caller's stack, as an ordinary ask, or as one whose command
// and reply pass through the codec, as they do between nodes. All must be the same to everybody else.

import type { Protocol } from "../../actors/index.ts";
import { decode, encode } from "../../src/bus/codec.ts";
import type { ActorSystem } from "../../src/runtime/system.ts";
import type { SimRandom } from "./random.ts";

type Ask = ActorSystem<Protocol>["ask"];

/** The system, with asks of every kind by turns. */
export function mixedAsks(system: ActorSystem<Protocol>, random: SimRandom): ActorSystem<Protocol> {
  const copy = <T>(value: T): T => decode(encode(value)) as T;

  const byCodec: Ask = async (to, type, input, options) =>
    copy(await system.ask(to, type, copy(input), options));

  const WAYS = [system.askNow as Ask, system.ask, byCodec];
  const askNow = ((to, type, input, options) =>
    random.pick(WAYS)(to, type, input, options)) as ActorSystem<Protocol>["askNow"];

  return {
    ...system,
    askNow,
    // What is thrown at once is a rejection here.
    ask: async (to, type, input, options) => askNow(to, type, input, options),
  };
}
