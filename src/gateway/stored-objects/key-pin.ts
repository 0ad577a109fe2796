// A request that refers to what a provider keeps goes to the key that made it, and nowhere else: no other key has it. Here
// that key is found, and the request's route is led to it; all else (models, Levels, prices, limits) is decided as always.

import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import type { Payload } from "../../dialect/payload/payload.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { AccountContext, ConfigCache } from "../account/config-cache.ts";
import { barredFrom, chainOf, type NoRoute, type Route } from "../routing/route.ts";
import type { StoredObject, StoredObjectIndex } from "./object-index.ts";

/** More are refused before any is looked up. */
const REFERENCES_MOST = 1_000;

/** Where all lies that a request refers to. */
export interface KeyPin {
  readonly key: ProviderKeyId;
  /** What is kept is read anew with each answer, and paid for: so many tokens, at least, come to the request's own. */
  readonly tokens: number;
  /** The request's parameter that names the first of it. */
  readonly param: string;
}

/** The keeper of all that a request refers to; null: it refers to nothing. Throws Refused where there is none. */
export async function keyPinOf(
  objects: Pick<StoredObjectIndex, "find">,
  account: AccountId,
  dialect: Pick<Dialect, "objects">,
  { value }: Payload,
): Promise<KeyPin | null> {
  const named = dialect.objects?.referencesOf(value as Json) ?? new Map<string, string>();
  const ids = [...named.keys()];
  const param = named.get(ids[0]!);
  if (param === undefined) return null;
  if (ids.length > REFERENCES_MOST) {
    const message = `A request may refer to ${REFERENCES_MOST} objects, not to ${ids.length}.`;
    throw new RefusedError({ code: "invalid_parameter", message });
  }
  const found = await objects.find(account, ids);
  const places = ids.map((id) => {
    const at = found.get(id);
    if (at === undefined) throw new RefusedError(notFound(unknown(id), named.get(id)!));
    return at;
  });
  if (new Set(places.map(({ key }) => key)).size > 1) throw new RefusedError(notFound(APART, param));
  // Things of one answer lie in one context: the largest holds the others.
  return { key: places[0]!.key, tokens: Math.max(...places.map(({ tokens }) => tokens)), param };
}

/** Where one thing lies. Throws Refused where it is nothing of this account's. */
export async function keptAt(
  objects: StoredObjectIndex,
  account: AccountId,
  id: string,
): Promise<StoredObject> {
  const at = (await objects.find(account, [id])).get(id);
  if (at === undefined) throw new RefusedError({ code: "not_found", message: unknown(id) });
  return at;
}

/** What a request refers to cannot be had: the code and the parameter by which SDKs send what it says instead. */
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

export interface KeyPinParts {
  readonly system: ActorSystem<Protocol>;
  readonly replicas: ConfigCache;
}

/** The Level in which a key stands now. Throws Refused where the key is gone. */
export async function levelOfKey(
  { system, replicas }: KeyPinParts,
  owner: AccountId,
  id: ProviderKeyId,
): Promise<{ readonly level: number; readonly view: LevelView }> {
  const { level } = await system.ask(actorRef.keyPool(owner), "read", { id }).catch((error) => {
    throw error instanceof RefusedError && error.refusal.code === "key_not_found"
      ? new RefusedError(GONE)
      : error;
  });
  return { level, view: replicas.level(owner, level) ?? (await replicas.loadLevel(owner, level)) };
}

/** The route to the keeper, wherever it stands; or why there is none. */
export async function routeToPinnedKey(
  parts: KeyPinParts,
  lineage: AccountContext,
  found: Route | NoRoute,
  keeper: Pick<KeyPin, "key" | "param">,
): Promise<Route | NoRoute> {
  if (!found.ok) return found;
  const { model, steps } = found;
  const place = await levelOfKey(parts, lineage.owner, keeper.key).catch((error) => {
    if (!(error instanceof RefusedError)) throw error;
    return error.refusal === GONE ? notFound(GONE.message, keeper.param) : error.refusal;
  });
  if ("code" in place) return { ok: false, refusal: place, model, steps };
  const { level } = place;
  if (barredFrom(chainOf(lineage), level) === undefined) return { ...found, ...place };
  const message = `Level ${level}, where what the request refers to was made, is not allowed to this account.`;
  return { ok: false, refusal: { code: "level_not_allowed", message }, model, steps };
}

/** A Level as a request sees it: one that has a keeper sees no other key. */
export const restrictToKey = (keeper: ProviderKeyId | null, view: LevelView): LevelView =>
  keeper === null ? view : { ...view, keys: view.keys.filter(({ id }) => id === keeper) };

/** What a request is told whose keeper cannot answer. */
export const withoutKeyPin = (refusal: Refusal): Refusal =>
  refusal.code === "no_available_key" ? { ...refusal, message: UNUSABLE.message } : refusal;

export const UNUSABLE: Refusal = {
  code: "no_available_key",
  message: "What is asked for lies at one provider key, which cannot be used at the moment. Try again later.",
};
