// How a reasoning item of a translated responses answer carries the provider's own thinking, so that a client that sends
// its items back continues the thinking although nothing is stored. All of it lies in `encrypted_content`, the one field
// that clients return as it came. It hides nothing: signed thinking is protected by its provider's signature, and the
// text is the one that the item shows. An item of a provider itself is never read here, and ours is dropped before a
// provider that did not make it.
//
//   encrypted_content = "arborgate.1." + base64url of the JSON {"provider"} with "blocks", "text" or "calls"
//
//   provider at answer     one reasoning item for                   carried
//   messages               each thinking or redacted_thinking       blocks: that block, with its signature
//   chat                   each run of reasoning before text/calls  text: the run, if the provider reads it again
//   chat                   each call with a signature, before it    calls: its id, and what the provider attached to it
//
// Messages clients receive the last of these in the signature of a thinking block without a text, which they return as well.

import { CARRYING_MARK } from "../carrying-mark.ts";
import { isObject, isTooDeep, type Json, parseJson } from "../json.ts";
import { isCarrying } from "../responses/responses-objects.ts";
import { isNotBlank } from "./defined-fields.ts";

/** The thinking that a reasoning item carries. */
export interface CarriedThinking {
  /** The provider that made it, as `AnswerContext.provider` names it; no other receives it. */
  readonly provider: string;
  /** Signed blocks of the messages dialect; empty when the provider gave text alone. */
  readonly blocks: readonly Json[];
  /** Reasoning of a chat provider; empty when there are blocks. */
  readonly text: string;
  /** Calls to which a chat provider attached what it requires back. */
  readonly calls: readonly CarriedCall[];
}

/** What a provider attached to one of its calls. */
export interface CarriedCall {
  /** The id that the client received. */
  readonly id: string;
  readonly extra: Json;
}

/** Returns the `encrypted_content` of an item, or null for thinking that the provider could not read again. */
export function encryptedContentOf({
  provider,
  blocks,
  text,
}: Omit<CarriedThinking, "calls">): string | null {
  const signed = signedBlocks(blocks);
  if (signed.length === 0 && text === "") return null;
  const carried = signed.length > 0 ? { provider, blocks: signed } : { provider, text };
  return encoded(carried);
}

const encoded = (carried: Json): string =>
  CARRYING_MARK + Buffer.from(JSON.stringify(carried)).toString("base64url");

/** Returns the text that carries what a provider attached to a call, for an `encrypted_content` or a signature. */
export const carriedCall = (provider: string, call: CarriedCall): string =>
  encoded({ provider, calls: [call] });

/** Returns the thinking that an input item carries, or null when it is not one of ours or was damaged. */
export function carriedThinking(item: Json): CarriedThinking | null {
  return isCarrying(item) ? decoded(item.encrypted_content) : null;
}

function decoded(text: string): CarriedThinking | null {
  const json = Buffer.from(text.slice(CARRYING_MARK.length), "base64url").toString("utf8");
  const carried = parseJson(json);
  if (!isObject(carried) || isTooDeep(carried) || typeof carried.provider !== "string") return null;
  const { provider, text: reasoning, calls } = carried;
  return {
    provider,
    blocks: signedBlocks(carried.blocks),
    text: typeof reasoning === "string" ? reasoning : "",
    calls: (Array.isArray(calls) ? (calls as unknown[]) : []).flatMap((call): CarriedCall[] =>
      isObject(call) && typeof call.id === "string" && isObject(call.extra)
        ? [{ id: call.id, extra: call.extra }]
        : [],
    ),
  };
}

/** Returns the thinking that the signature of a thinking block carries, or null when it is not one of ours. */
export const carriedInSignature = (signature: unknown): CarriedThinking | null =>
  typeof signature === "string" && signature.startsWith(CARRYING_MARK) ? decoded(signature) : null;

/** What a provider attached to the calls of a conversation, as its client returns it. */
export class CarriedCalls {
  readonly #extras = new Map<string, Json>();
  readonly #provider: string;

  /** `provider` is the one that will answer. */
  constructor(provider: string) {
    this.#provider = provider;
  }

  /** Keeps what belongs to the provider. */
  add({ provider, calls }: CarriedThinking): void {
    if (provider === this.#provider) for (const { id, extra } of calls) this.#extras.set(id, extra);
  }

  /** Returns the `extra` of a call as its field, or nothing. `given` is the one that the client states itself. */
  extraOf(id: unknown, given: unknown): { readonly extra?: unknown } {
    const extra = given ?? (typeof id === "string" ? this.#extras.get(id) : undefined);
    return extra === undefined ? {} : { extra };
  }
}

/** Returns the thinking blocks that have a signature; a provider would refuse any other. */
export function signedBlocks(blocks: unknown): Json[] {
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap((block: unknown): Json[] => {
    if (!isObject(block)) return [];
    const { type, thinking, signature, data } = block;
    if (type === "thinking" && typeof thinking === "string" && isNotBlank(signature))
      return [{ type, thinking, signature }];
    return type === "redacted_thinking" && isNotBlank(data) ? [{ type, data }] : [];
  });
}
