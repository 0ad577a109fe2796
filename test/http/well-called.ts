// One good call of an endpoint, of the table's making, that leaves account and key 1 and everybody's API key as they were:
// what is deleted or rotated is made for it.

import { type Account, type Bench, fresh, MODEL, type Owner } from "../e2e/harness.ts";
import { ENDPOINTS, methodOf } from "./endpoints.ts";

export interface BenchAccounts {
  readonly bench: Bench;
  readonly owner: Owner;
  readonly user: Account;
}

export interface GoodCall {
  /** null: none is asked for. */
  readonly key: string | null;
  readonly method: string;
  readonly path: string;
  readonly body: Record<string, unknown> | FormData | undefined;
}

/** What stands in for the table's own, by endpoint. */
const INSTEAD: Readonly<Record<string, (accounts: BenchAccounts) => Promise<Partial<GoodCall>>>> = {
  "DELETE /x-users/:identifier": async (accounts) => ({ path: `/x-users/${(await spare(accounts)).id}` }),
  "DELETE /x-keys/:key": async ({ bench, owner }) => ({
    path: `/x-keys/${(await bench.level(owner, 7, 1))[0]!.id}`,
  }),
  "POST /x-config/test-mail": async ({ bench }) => {
    // No server listens there, which is an answer as good as any.
    const config = { EMAIL_SMTP: "127.0.0.1", EMAIL_PORT: "9", SERVICE_MAIL: "mail@owner.example" };
    return { key: (await bench.owner({ config })).key };
  },
  "GET /v1/responses/:id": async (accounts) => ({ path: `/v1/responses/${await response(accounts)}` }),
  "DELETE /v1/responses/:id": async (accounts) => ({ path: `/v1/responses/${await response(accounts)}` }),
  "GET /v1/responses/:id/input_items": async (accounts) => ({
    path: `/v1/responses/${await response(accounts)}/input_items`,
  }),
  "DELETE /dashboard/keys/:id": async ({ bench, owner }) => {
    const { body } = await bench.call(owner.key, "POST", "/dashboard/keys", { Name: `spare-${fresh()}` });
    return { path: `/dashboard/keys/${body.key.id}` };
  },
  "POST /x-self": async (accounts) => ({ key: (await spare(accounts)).key }),
  "POST /x-root": async (accounts) => ({
    body: { ...ENDPOINTS["POST /x-root"]!.body!(), name: (await spare(accounts)).name },
  }),
};

const spare = ({ bench, owner }: BenchAccounts): Promise<Account> => bench.subaccount(owner);

async function response({ bench, user }: BenchAccounts): Promise<string> {
  const { body } = await bench.call(user.key, "POST", "/v1/responses", {
    model: MODEL,
    input: "[[output=1]]",
  });
  return body.id;
}

export const keyOf = ({ bench, owner, user }: BenchAccounts, as: "root" | "owner" | "user" | null) =>
  as === null ? null : { root: bench.rootKey, owner: owner.key, user: user.key }[as];

export async function wellCalled(accounts: BenchAccounts, name: string): Promise<GoodCall> {
  const { path, as, good = "", body, form } = ENDPOINTS[name]!;
  return {
    key: keyOf(accounts, as),
    method: methodOf(name),
    path: path + good,
    body: body?.() ?? form?.(),
    ...(await INSTEAD[name]?.(accounts)),
  };
}
