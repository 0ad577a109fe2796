// Branded ids, so that the compiler refuses an account's id in place of a key's; and the DNA, an account's
// list of ancestors.

declare const account: unique symbol;
declare const key: unique symbol;
declare const apiKey: unique symbol;

/** Id of an account. */
export type AccountId = number & { readonly [account]: true };
/** Id of an Owner's provider key. */
export type ProviderKeyId = number & { readonly [key]: true };
/** Id of one of an account's API keys; 0 is the main key. */
export type ApiKeyId = number & { readonly [apiKey]: true };

/** The main key of every account: the specification's `SecretKey`. */
export const MAIN_API_KEY = 0 as ApiKeyId;
/** The name under which the main key stands in ledger lines and lists; no other key may have it. */
export const MAIN_API_KEY_NAME = "main";

/**
 * Returns an Idempotency-Key together with the API key to which it belongs. The main key's stands alone, as it always did; the
 * line break cannot be part of an Idempotency-Key.
 */
export const ownedKey = (idempotencyKey: string, apiKey: ApiKeyId): string =>
  apiKey === MAIN_API_KEY ? idempotencyKey : `${apiKey}\n${idempotencyKey}`;

/** The account at the top of all trees. */
export const ROOT = 1 as AccountId;

/** Returns the DNA of an account's children: its own DNA followed by its id. Root's own DNA is `.`. */
export const dnaBelow = (dna: string, id: AccountId): string => `${dna}${id}.`;

/** Returns the ancestors that a DNA lists, from Root down: `.1.2.7.` gives [1, 2, 7]. */
export const ancestorsOf = (dna: string): AccountId[] =>
  dna
    .split(".")
    .filter((part) => part !== "")
    .map((part) => Number(part) as AccountId);

/** Returns the Owner of an account: its second ancestor, or the account itself if it is an Owner or Root. */
export function ownerOf(account: { readonly id: AccountId; readonly dna: string }): AccountId {
  return ancestorsOf(account.dna)[1] ?? account.id;
}
