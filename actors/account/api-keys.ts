// The named API keys of an account: adding, changing, rotating and deleting them, and their list. A key can only narrow what
// its account may do, and nobody makes a key stronger than the one that calls (actors/api-key/confinement.ts). The claim of a
// secret in the store is made before its command and released after its end by src/admin/api-keys.ts; nothing here knows a
// secret, only hashes.

import { type Refusal, unreachable } from "../../src/base/errors.ts";
import type { CommandOf, Decision, NoInput, Turn } from "../../src/runtime/actor.ts";
import {
  API_KEYS_MADE_PER_DAY_MAX,
  API_KEYS_MAX,
  type ApiKey,
  type ApiKeyChange,
  type ApiKeySettings,
  type CallingKey,
} from "../api-key/api-key.ts";
import { escalation, settingsRefusal, touchRefusal } from "../api-key/confinement.ts";
import { NamedKey } from "../api-key/named-key.ts";
import { NamedKeys } from "../api-key/named-keys.ts";
import { type AccountId, type ApiKeyId, MAIN_API_KEY, MAIN_API_KEY_NAME } from "../ids.ts";
import { type ApiKeyList, type ApiKeyRow, apiKeyList, apiKeyRow } from "./api-key-list.ts";
import { INVALID_KEY, presentedKey } from "./authenticate.ts";
import { accountNotFound } from "./charge.ts";
import { keyMakersOf } from "./evolve-api-keys.ts";
import { callingKey } from "./identify.ts";
import { type Account, type AccountEvent, isOwner, type Profile } from "./state.ts";

/** The key that calls, with the hash that it presented. */
export interface ByKey {
  readonly by: CallingKey;
  readonly byHash: string;
}

/** Input of the command `addApiKey`. */
export interface AddApiKey extends ByKey {
  /** Dedup id. */
  readonly id: string;
  readonly settings: ApiKeySettings;
  /** SHA-256 of the secret, which is claimed already. */
  readonly hash: string;
}

/** The key that was added. Its hash is another one when an earlier execution of the same command added it. */
export interface AddedApiKey {
  readonly row: ApiKeyRow;
}

/** Input of the command `deleteApiKey`. */
export interface TouchApiKey extends ByKey {
  readonly apiKey: ApiKeyId;
}

/** Input of the command `changeApiKey`. */
export interface ChangeApiKey extends TouchApiKey {
  readonly change: ApiKeyChange;
  /** The list of models that `change` was edited from, which the key must still have; null where it was not edited. */
  readonly editedFrom: readonly string[] | null;
}

/** Code of the refusal of a change that was edited from a list of models which the key has no longer. */
export const API_KEY_CHANGED = "api_key_changed";

/** The key after a change, and its settings before. */
export interface ChangedApiKey {
  readonly row: ApiKeyRow;
  readonly before: ApiKeySettings;
}

/** Input of the command `rotateApiKey`. */
export interface RotateApiKey extends TouchApiKey {
  /** Id of the command; a repeat replaces the secret that the first execution made. */
  readonly id: string;
  readonly hash: string;
  /** Milliseconds for which the former secret stays valid. */
  readonly overlapMs: number;
  /** The key is rotated only if its newest secret was made by the same command, else refused as `key_not_found`. */
  readonly replacesOwnOnly?: true;
}

/** The commands about named keys. */
export interface ApiKeyCommands {
  readonly apiKeys: { readonly input: NoInput; readonly output: ApiKeyList };
  /** A repeat is answered with the key that the first execution added; its secret was never shown. */
  readonly addApiKey: { readonly input: AddApiKey; readonly output: { readonly row: ApiKeyRow } };
  readonly changeApiKey: { readonly input: ChangeApiKey; readonly output: ChangedApiKey };
  readonly rotateApiKey: { readonly input: RotateApiKey; readonly output: { readonly row: ApiKeyRow } };
  readonly deleteApiKey: { readonly input: TouchApiKey; readonly output: { readonly row: ApiKeyRow } };
  /** Drops dead secrets whose claims are released. */
  readonly forgetSecrets: { readonly input: { readonly hashes: readonly string[] }; readonly output: object };
}

type ApiKeyCommand = CommandOf<ApiKeyCommands>;

/** Dispatches a command about named keys. */
export function decideApiKeys(state: Account, command: ApiKeyCommand, turn: Turn): Decision<AccountEvent> {
  switch (command.type) {
    case "apiKeys":
      return apiKeyList(state, turn);
    case "addApiKey":
      return addApiKey(state, command, turn);
    case "changeApiKey":
      return changeApiKey(state, command, turn);
    case "rotateApiKey":
      return rotateApiKey(state, command, turn);
    case "deleteApiKey":
      return deleteApiKey(state, command, turn);
    case "forgetSecrets":
      return forgetSecrets(state, command);
    default:
      return unreachable(command);
  }
}

/**
 * Adds a key. Refuses duplicate_name, key_limit_reached, and what settings, caller and scopes forbid (invalid_parameter,
 * scope_missing).
 */
function addApiKey(state: Account, input: AddApiKey, { now, done }: Turn): Decision<AccountEvent> {
  const { profile } = state;
  if (profile === null) return { refused: accountNotFound(state) };
  const { id, settings, hash } = input;
  if (done) return repeated(state, id, now);
  const caller = currentCaller(state, profile, input, now);
  if ("code" in caller) return { refused: caller };
  const refused =
    settingsRefusal(settings, isOwner(profile)) ??
    escalation(caller, settings) ??
    nameRefusal(state, settings.name, null) ??
    tooManyRefusal(state, now, (state.apiKeys?.size ?? 0) + 1);
  if (refused !== null) return { refused };
  const key: ApiKey = {
    ...settings,
    id: state.apiKeys?.freeId ?? new NamedKeys().freeId,
    createdAt: now,
    createdBy: caller.account,
    secrets: [{ hash, by: knownBy(state, input), until: null }],
    issuedBy: id,
  };
  const row = apiKeyRow(new NamedKey(key), now);
  return { reply: { row }, events: [{ type: "api_key_added", id, key }], save: true };
}

/** Changes a key, all or nothing. Refuses key_not_found and what `addApiKey` refuses of its settings. */
function changeApiKey(state: Account, input: ChangeApiKey, turn: Turn): Decision<AccountEvent> {
  const touched = touchedKey(state, input, turn.now);
  if ("code" in touched) return { refused: touched };
  const { profile, caller, named } = touched;
  const { apiKey, change, editedFrom } = input;
  if (editedFrom !== null && editedFrom.join() !== named.key.allowModels.join()) {
    return { refused: { code: API_KEY_CHANGED, message: "The key has been changed meanwhile." } };
  }
  const after: ApiKey = { ...named.key, ...change };
  const refused =
    settingsRefusal(after, isOwner(profile)) ??
    escalation(caller, after) ??
    nameRefusal(state, after.name, apiKey) ??
    foreignSecretRefusal(profile, named.key, after);
  if (refused !== null) return { refused };
  return {
    reply: {
      row: rowAfter(named, turn.now, (keys) => keys.update(apiKey, change)),
      before: settingsOf(named.key),
    },
    events: [{ type: "api_key_updated", apiKey, change, by: caller.account }],
    save: true,
  };
}

/**
 * Gives a key another secret. The former one stays valid for the overlap, but never that of a disabled key, nor one of somebody
 * who is no longer the account or above it: enabling the key would give either back. Refuses key_not_found, key_limit_reached,
 * and what `changeApiKey` refuses of the key as it is.
 */
function rotateApiKey(state: Account, input: RotateApiKey, { now }: Turn): Decision<AccountEvent> {
  const { apiKey, hash, id, overlapMs, replacesOwnOnly } = input;
  const found = state.apiKeys?.findSecret(hash);
  // The runtime repeats a command whose answer it lost; the secret is the key's already.
  if (found !== undefined && "named" in found) return { reply: { row: apiKeyRow(found.named, now) } };
  const touched = touchedKey(state, input, now);
  if ("code" in touched) return { refused: touched };
  const { profile, caller, named } = touched;
  if (replacesOwnOnly && named.key.issuedBy !== id) return { refused: keyNotFound };
  const refused = escalation(caller, named.key) ?? tooManyRefusal(state, now, 0);
  if (refused !== null) return { refused };
  const { status, secrets, issuedBy } = named.key;
  const isFormerGood = status && keyMakersOf(profile).has(secrets[0].by);
  const formerUntil = isFormerGood ? now + overlapMs : now;
  const replaces = issuedBy === id;
  const rotated = { apiKey, hash, by: knownBy(state, input), issuedBy: id, formerUntil, replaces };
  return {
    reply: { row: rowAfter(named, now, (keys) => keys.rotate(apiKey, rotated, now)) },
    events: [{ type: "api_key_rotated", ...rotated }],
    save: true,
  };
}

/** Deletes a key at once. Refuses key_not_found, and what the caller may not touch. */
function deleteApiKey(state: Account, input: TouchApiKey, { now }: Turn): Decision<AccountEvent> {
  const touched = touchedKey(state, input, now);
  if ("code" in touched) return { refused: touched };
  const { caller, named } = touched;
  return {
    reply: { row: apiKeyRow(named, now) },
    events: [{ type: "api_key_deleted", apiKey: input.apiKey, by: caller.account }],
    save: true,
  };
}

/** Drops dead secrets whose claims are released; a repeat changes nothing. */
function forgetSecrets(
  state: Account,
  { hashes }: { readonly hashes: readonly string[] },
): Decision<AccountEvent> {
  const known = new Set(state.apiKeys?.hashes().map(({ hash }) => hash));
  const dropped = hashes.filter((hash) => known.has(hash));
  if (dropped.length === 0) return { reply: {} };
  return { reply: {}, events: [{ type: "api_key_secrets_forgotten", hashes: dropped }], save: true };
}

/** Answers a command that was executed before: its secret was never shown, so the caller rotates the key. */
function repeated(state: Account, id: string, now: number): Decision<AccountEvent> {
  const named = [...(state.apiKeys?.all() ?? [])].find(({ key }) => key.issuedBy === id);
  return named === undefined ? { refused: keyNotFound } : { reply: { row: apiKeyRow(named, now) } };
}

/** A key that the caller may touch, with the caller as it is now. */
interface TouchedKey {
  readonly profile: Profile;
  readonly caller: CallingKey;
  readonly named: NamedKey;
}

function touchedKey(state: Account, input: TouchApiKey, now: number): TouchedKey | Refusal {
  const { profile } = state;
  if (profile === null) return accountNotFound(state);
  const caller = currentCaller(state, profile, input, now);
  if ("code" in caller) return caller;
  const { apiKey } = input;
  if (apiKey === MAIN_API_KEY) return MAIN_KEY_STAYS;
  const named = state.apiKeys?.get(apiKey);
  if (named === undefined) return keyNotFound;
  const { scopes } = named.key;
  return touchRefusal(caller, { account: state.id, id: apiKey, scopes }) ?? { profile, caller, named };
}

/**
 * Returns the calling key as it is now where it is one of this account's, because it may have been narrowed since it was
 * identified; a key of an ancestor as it was identified. The account may have been moved away from the caller since.
 */
function currentCaller(
  state: Account,
  profile: Profile,
  { by, byHash }: ByKey,
  now: number,
): CallingKey | Refusal {
  if (!keyMakersOf(profile).has(by.account)) return accountNotFound(state);
  if (by.account !== state.id) return by;
  const presented = presentedKey(state, profile, byHash, now);
  if (presented !== null && "code" in presented) return INVALID_KEY;
  return callingKey(profile, presented);
}

/**
 * Returns the account to which a secret is shown that this call makes. Who knows the secret of the calling key learns it too: a
 * key that an ancestor made must not make others for it that outlast a move.
 */
function knownBy(state: Account, { by, byHash }: ByKey): AccountId {
  if (by.account !== state.id) return by.account;
  const found = state.apiKeys?.findSecret(byHash);
  return found !== undefined && "named" in found ? found.secret.by : state.id;
}

function nameRefusal(state: Account, name: string, own: ApiKeyId | null): Refusal | null {
  const wanted = name.normalize("NFC").toLowerCase();
  const others = [...(state.apiKeys?.all() ?? [])].filter(({ key }) => key.id !== own);
  const isTaken =
    wanted === MAIN_API_KEY_NAME ||
    others.some(({ key }) => key.name.normalize("NFC").toLowerCase() === wanted);
  if (!isTaken) return null;
  return {
    code: "duplicate_name",
    message: `This account has a key "${name}" already. Choose another name.`,
  };
}

/** `keys` is how many keys the account would have. */
function tooManyRefusal({ apiKeys }: Account, now: number, keys: number): Refusal | null {
  if (keys > API_KEYS_MAX) {
    return {
      code: "key_limit_reached",
      message: `This account has ${API_KEYS_MAX} API keys, the most it may have. Delete one that is not used.`,
    };
  }
  if ((apiKeys?.madeOn(now) ?? 0) < API_KEYS_MADE_PER_DAY_MAX) return null;
  return {
    code: "key_limit_reached",
    message: `${API_KEYS_MADE_PER_DAY_MAX} secrets of API keys were made today, the most for one day. Go on tomorrow (UTC).`,
  };
}

/** A key whose secret somebody else knows may not be enabled before it has another one. */
function foreignSecretRefusal(profile: Profile, before: ApiKey, after: ApiKey): Refusal | null {
  const [newest] = before.secrets;
  if (!after.status || before.status || keyMakersOf(profile).has(newest.by)) return null;
  return {
    code: "invalid_parameter",
    message: `"Status": the secret of this key was shown to account ${newest.by}, which is not above this one any more. Rotate the key first.`,
  };
}

const keyNotFound: Refusal = { code: "key_not_found", message: "This account has no API key with this id." };

const MAIN_KEY_STAYS: Refusal = {
  code: "field_not_settable",
  message: "The main key is not changed here. POST /x-self rotates it.",
};

/** Returns the row of a key as an event that is only decided yet will leave it. */
function rowAfter(named: NamedKey, now: number, apply: (keys: NamedKeys) => void): ApiKeyRow {
  const keys = NamedKeys.of(NamedKey.thaw(named.freeze()));
  apply(keys);
  return apiKeyRow(keys.get(named.key.id)!, now);
}

const settingsOf = (key: ApiKey): ApiKeySettings => {
  const { id: _, createdAt: __, createdBy: ___, secrets: ____, issuedBy: _____, ...settings } = key;
  return settings;
};
