// Calls about API keys, for the tests of their endpoints. Asserts nothing.

import type { Account, Answer, Bench, Json } from "../../e2e/harness.ts";
import { fresh } from "../../e2e/harness.ts";

/** A named key with its secret. */
export interface MadeKey {
  readonly id: number;
  readonly name: string;
  readonly secret: string;
  readonly record: Json;
}

/** Makes a key, by the account's main key unless another is named; throws where that is refused. */
export async function makeKey(
  bench: Bench,
  account: Pick<Account, "key">,
  fields: Record<string, unknown> = {},
  user?: Account,
): Promise<MadeKey> {
  const answer = await tryKey(bench, account.key, fields, user);
  if (answer.status !== 200) throw new Error(`no key: ${answer.status} ${answer.text}`);
  const { key, secret } = answer.body;
  return { id: key.id, name: key.name, secret, record: key };
}

export const tryKey = (
  bench: Bench,
  key: string,
  fields: Record<string, unknown> = {},
  user?: Pick<Account, "id">,
): Promise<Answer> =>
  bench.call(key, "POST", `/dashboard/keys${user === undefined ? "" : `?user=${user.id}`}`, {
    Name: `key-${fresh()}`,
    ...fields,
  });

/** The record of a key as the account's main key sees it. */
export async function recordOf(bench: Bench, account: Account, id: number): Promise<Json> {
  const { body } = await bench.call(account.key, "GET", "/dashboard/keys?size=1000");
  return body.keys.find((one: Json) => one.id === id);
}
