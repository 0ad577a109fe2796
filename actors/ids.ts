// Branded ids, so that an account's number cannot stand where a key's belongs.

declare const account: unique symbol;
declare const key: unique symbol;

export type AccountId = number & { readonly [account]: true };
export type ProviderKeyId = number & { readonly [key]: true };

export const ROOT = 1 as AccountId;

/** The DNA of an account's children: its own DNA and its id. `.` for Root is the start of all. */
export const dnaBelow = (dna: string, id: AccountId): string => `${dna}${id}.`;

/** The ancestors named by a DNA, from Root down: `.1.2.7.` is [1, 2, 7]. */
export const ancestorsOf = (dna: string): AccountId[] =>
  dna
    .split(".")
    .filter((part) => part !== "")
    .map((part) => Number(part) as AccountId);

/** The Owner at the top of this account's tree: the second ancestor, or the account itself; Root is its own. */
export function ownerOf(account: { readonly id: AccountId; readonly dna: string }): AccountId {
  return ancestorsOf(account.dna)[1] ?? account.id;
}
