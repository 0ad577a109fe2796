// Batch configuration by POST /x-conf, and what of it an account has in effect, for the tests of what it does.

import { expect } from "bun:test";
import type { Account, Bench, Json, Owner } from "../e2e/harness.ts";

/** `now`: the bench and the Owner of the moment; a test file makes them before its tests. */
export function batch(now: () => { readonly bench: Bench; readonly owner: Owner }) {
  const call = (method: string, path: string, body?: object, key = now().owner.key) =>
    now().bench.call(key, method, path, body);
  const record = async ({ id }: Account): Promise<Json> =>
    (await call("GET", `/x-dna/${id}`, undefined, now().bench.rootKey)).body[0];
  const conf = (body: object, key?: string) => call("POST", "/x-conf", body, key);
  return {
    conf,
    /** The same, where it must work: its answer. */
    async applied(body: object, key?: string): Promise<Json> {
      const answer = await conf(body, key);
      expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"success":true')]);
      return answer.body;
    },
    config: (body: object) => call("PUT", "/x-config", body),
    read: async (): Promise<Json> => (await call("GET", "/x-conf")).body,
    /** An account's mapper and limits, as they are in effect for it. */
    async mapper(account: Account): Promise<Json> {
      const text: string = (await record(account)).ModelMapper;
      return Object.fromEntries(text === "" ? [] : text.split(",").map((entry) => entry.split("=")));
    },
    limits: async (account: Account): Promise<Json> => (await record(account)).ModelLimits,
    /** Sets entries of an account's own map. */
    async own(account: Account, ModelMapper: string): Promise<void> {
      const answer = await call("PUT", `/x-users/${account.id}`, { ModelMapper }, account.key);
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    },
    /** The model that a request of the account goes to, or why it goes nowhere. */
    async served(account: Account, model: string): Promise<string> {
      const { status, headers, body } = await now().bench.chat(account.key, "[[output=1]]", { model });
      return status === 200 ? headers.get("x-arbor-model")! : body.error.code;
    },
  };
}
