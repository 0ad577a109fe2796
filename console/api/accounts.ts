// What the console knows of accounts below the one that is signed in: their records, who stands between, and which fields the
// signed-in account may set. The service decides; what it would refuse is not shown.

import type { UseQueryResult } from "@tanstack/react-query";
import { useQueries } from "@tanstack/react-query";
import type { Answers } from "./answers.ts";
import { callList, type Query } from "./call.ts";
import type { CallFailed } from "./failure.ts";
import { useGet } from "./queries.ts";
import { isRoot, type Status } from "./role.ts";

/** The record of an account as lists show it. */
export type Account = Answers["/x-users"][number];

/** A page of a list of accounts. */
export interface AccountPage {
  readonly rows: readonly Account[];
  readonly total: number;
}

/** Who the signed-in account is to one below it (contract section 3, Owner-only and Root-only fields). */
export type Relation = "root" | "owner" | "ancestor";

/** Returns who the signed-in account is to one below it. */
export const relationTo = (me: Status, account: Pick<Account, "DNA">): Relation =>
  isRoot(me) ? "root" : ancestorsOf(account.DNA)[1] === me.id ? "owner" : "ancestor";

/** Returns the ids in a DNA, from Root down. */
export const ancestorsOf = (dna: string): readonly number[] => dna.split(".").filter(Boolean).map(Number);

/** Returns the DNA of all accounts below one. */
export const dnaBelow = (dna: string, id: number): string => `${dna}${id}.`;

/** Returns the ids between the signed-in account and one below it, both left out, from the top. */
export const idsBetween = (me: Pick<Status, "dna" | "id">, dna: string): readonly number[] =>
  dna.startsWith(dnaBelow(me.dna, me.id)) ? ancestorsOf(dna.slice(dnaBelow(me.dna, me.id).length)) : [];

/**
 * Asks for the record of an account below the signed-in one; an empty list where it is out of reach or deleted. The record of another
 * account never stands in for it: what is done with it would be done to that one.
 */
export const useAccount = (id: number | null) =>
  useGet("/x-dna", { id: id ?? undefined, page: 1, size: 1 }, { enabled: id !== null, keepsPrevious: false });

const LIST_MS = 30_000;

/** Asks for several pages of lists of accounts at once; a page that is on its way has no data. */
export const useAccountPages = (
  path: "/x-users" | "/x-dna",
  queries: readonly Query[],
): readonly UseQueryResult<AccountPage, CallFailed>[] =>
  useQueries({
    queries: queries.map((query) => ({
      queryKey: [path, "list", query],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<AccountPage> => {
        const { rows, total } = await callList({ method: "GET", path, query, signal });
        return { rows: rows as readonly Account[], total };
      },
      refetchInterval: LIST_MS,
    })),
  }) as readonly UseQueryResult<AccountPage, CallFailed>[];

/** Asks for the records of these accounts, in their order; those that are not known yet are null. */
export const useAccounts = (ids: readonly number[]): readonly (Account | null)[] =>
  useAccountPages(
    "/x-dna",
    ids.map((id) => ({ id, page: 1, size: 1 })),
  ).map(({ data }) => data?.rows[0] ?? null);
