// Pins a request that refers to objects stored by a provider to the key that created them, because no other
// key has them. The request's route is led to that key's Level; models, limits and prices are decided as for
// any request.

import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import type { Payload } from "../../dialect/payload/payload.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { Upstream } from "../../upstream/upstream.ts";
import type { AccountContext } from "../account/account-context.ts";
import type { ConfigCache } from "../account/config-cache.ts";
import { barredFrom, chainOf, type NoRoute, type Route } from "../routing/route.ts";
import type { StoredObject, StoredObjectIndex } from "./object-index.ts";

/** More references are refused before any is read. */
const REFERENCES_MAX = 1_000;

/** The key to which a request is pinned by the objects that it refers to. */
export interface KeyPin {
  readonly key: ProviderKeyId;
  /**
   * The least number of tokens that the stored objects add to the prompt: the provider reads and bills them
   * with each answer.
   */
  readonly tokens: number;
  /** The request's parameter that names the first object. */
  readonly param: string;
}

/**
 * Returns the pin of a request, or null (at once) when it refers to no object. Throws `RefusedError`:
 * `invalid_parameter` for too many references, `previous_response_not_found` for an unknown object or objects
 * of different keys.
 */
export function keyPinOf(
  objects: Pick<StoredObjectIndex, "find">,
  account: AccountId,
  dialect: Pick<Dialect, "objects">,
  { value }: Payload,
): KeyPin | null | Promise<KeyPin> {
  const named = dialect.objects?.referencesOf(value as Json);
  return named === undefined || named.size === 0 ? null : findKeyPin(objects, account, named);
}

/**
 * Returns whether a request refers to reasoning that the account was not given. Such reasoning is left out, for an id that is unknown
 * is never sent; it is no error, because SDKs send the reasoning of each turn back, also that of hosts that keep none.
 */
export function hasForeignReasoning(
  objects: Pick<StoredObjectIndex, "find">,
  account: AccountId,
  dialect: Pick<Dialect, "objects">,
  { value }: Payload,
): boolean | Promise<boolean> {
  const ids = dialect.objects?.reasoningOf(value as Json) ?? [];
  if (ids.length === 0) return false;
  if (ids.length > REFERENCES_MAX) return true;
  return objects.find(account, ids).then((found) => ids.some((id) => !found.has(id)));
}

/** `named` has the ids of the objects with the parameters that name them. */
async function findKeyPin(
  objects: Pick<StoredObjectIndex, "find">,
  account: AccountId,
  named: ReadonlyMap<string, string>,
): Promise<KeyPin> {
  const ids = [...named.keys()];
  const param = named.get(ids[0]!)!;
  if (ids.length > REFERENCES_MAX) {
    const message = `A request may refer to at most ${REFERENCES_MAX} objects.`;
    throw new RefusedError({ code: "invalid_parameter", message });
  }
  const found = await objects.find(account, ids);
  const places = ids.map((id) => {
    const at = found.get(id);
    if (at === undefined) throw new RefusedError(notFound(unknown(id), named.get(id)!));
    return at;
  });
  if (new Set(places.map(({ key }) => key)).size > 1) throw new RefusedError(notFound(APART, param));
  // Objects of one answer share one context, so the largest contains the others.
  return { key: places[0]!.key, tokens: Math.max(...places.map(({ tokens }) => tokens)), param };
}

/** Returns one stored object. Throws `RefusedError` (`not_found`) when this account has no such object. */
export async function keptAt(
  objects: StoredObjectIndex,
  account: AccountId,
  id: string,
): Promise<StoredObject> {
  const at = (await objects.find(account, [id])).get(id);
  if (at === undefined) throw new RefusedError({ code: "not_found", message: unknown(id) });
  return at;
}

/**
 * The refusal for an object that is not available. With this code and parameter SDKs resend the conversation
 * instead.
 */
const notFound = (message: string, param: string): Refusal => ({
  code: "previous_response_not_found",
  message,
  param,
});

const unknown = (id: string): string =>
  `This account has nothing with the id ${id.slice(0, 100).toWellFormed()}.`;

const APART =
  "The request refers to objects that lie at different provider keys, so that no key could answer it. Send what they say instead.";

const GONE: Refusal = {
  code: "not_found",
  message:
    "The provider key that made what is asked for is gone, and what it kept with it. Send the conversation instead.",
};

/** The services that find a pinned key. */
export interface KeyPinParts {
  readonly system: ActorSystem<Protocol>;
  readonly configs: ConfigCache;
}

/** Returns the current Level of a key. Throws `RefusedError` (`not_found`) when the key was deleted. */
export async function levelOfKey(
  { system, configs }: KeyPinParts,
  owner: AccountId,
  id: ProviderKeyId,
): Promise<{ readonly level: number; readonly view: LevelView }> {
  const { level } = await system.ask(actorRef.keyPool(owner), "read", { id }).catch((error) => {
    throw error instanceof RefusedError && error.refusal.code === "key_not_found"
      ? new RefusedError(GONE)
      : error;
  });
  return { level, view: configs.level(owner, level) ?? (await configs.loadLevel(owner, level)) };
}

/** Returns the route to the pinned key's Level, or why there is none. */
export async function routeToPinnedKey(
  parts: KeyPinParts,
  accountContext: AccountContext,
  found: Route | NoRoute,
  pinnedKey: Pick<KeyPin, "key" | "param">,
): Promise<Route | NoRoute> {
  if (!found.ok) return found;
  const { model, steps } = found;
  const place = await levelOfKey(parts, accountContext.account.owner, pinnedKey.key).catch((error) => {
    if (!(error instanceof RefusedError)) throw error;
    return error.refusal === GONE ? notFound(GONE.message, pinnedKey.param) : error.refusal;
  });
  if ("code" in place) return { ok: false, refusal: place, model, steps };
  const { level } = place;
  if (barredFrom(chainOf(accountContext), level) === undefined) return { ...found, ...place };
  const message = `Level ${level}, where what the request refers to was made, is not allowed to this account.`;
  return { ok: false, refusal: { code: "level_not_allowed", message }, model, steps };
}

/** Returns a Level's view with only the pinned key, or unchanged when `pinnedKey` is null. */
export const restrictToKey = (pinnedKey: Pick<KeyPin, "key"> | null, view: LevelView): LevelView =>
  pinnedKey === null ? view : { ...view, keys: view.keys.filter(({ id }) => id === pinnedKey.key) };

/**
 * Returns the upstream by which a request is encoded. That of a pinned request lacks no path, whatever the host has answered
 * meanwhile: the key has made what the request refers to, and a translation could not refer to it.
 */
export const upstreamFor = <U extends Pick<Upstream, "lacks">>(pinnedKey: KeyPin | null, upstream: U): U =>
  pinnedKey === null ? upstream : { ...upstream, lacks: () => false };

/** Returns the refusal with the message for a pinned request when no key is available. */
export const withoutKeyPin = (refusal: Refusal): Refusal =>
  refusal.code === "no_available_key" ? { ...refusal, message: UNUSABLE.message } : refusal;

/** The refusal of a request whose pinned key is unusable at the moment. */
export const UNUSABLE: Refusal = {
  code: "no_available_key",
  message: "What is asked for lies at one provider key, which cannot be used at the moment. Try again later.",
};
