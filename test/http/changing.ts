// Changing an account by PUT /x-users and looking at it again, for the tests of what a change does.

import type { Account, Bench, Json, Owner } from "../e2e/harness.ts";

interface TestAccounts {
  readonly bench: Bench;
  readonly owner: Owner;
  /** The account that is changed unless another is named. */
  readonly team: Account;
}

/** `now` returns the accounts of the test that runs; a test file creates them before its tests. */
export const changing = (now: () => TestAccounts) => ({
  put: (change: object, { key, id }: { key?: string; id?: number | string } = {}) => {
    const { bench, owner, team } = now();
    return bench.call(key ?? owner.key, "PUT", `/x-users/${encodeURIComponent(id ?? team.id)}`, change);
  },
  record: async (id?: number): Promise<Json> => {
    const { bench, team } = now();
    return (await bench.call(bench.rootKey, "GET", `/x-dna/${id ?? team.id}`)).body[0];
  },
});
