// An Owner of its own for a test that changes provider keys or maps, so that nobody else's requests go another way.

import type { Account } from "../e2e/harness.ts";
import type { World } from "./world.ts";
import type { ProviderKey } from "./world-tree.ts";

let made = 0;

/** Makes an account below another one by the API, with some credit. */
export async function makeAccount(world: World, parent: Account, name: string): Promise<Account> {
  const nth = ++made;
  const Name = `${name} ${nth}`;
  const body = { Name, Email: `made-${nth}@arborgate.example`, CreditGranted: 5 };
  const { status, text, body: answer } = await world.call(parent.key, "POST", "/x-users", body);
  if (status !== 200) throw new Error(`POST /x-users: ${status} ${text}`);
  return { id: answer.User.ID, key: answer.User.SecretKey, name: Name };
}

/** Gives an Owner a key of the stand-in provider, to which all models lead. */
export async function giveProviderKey(world: World, owner: Account, Name: string): Promise<ProviderKey> {
  // The stand-in remembers a key by its last four characters.
  const secret = `sk-standin-made-here-${owner.id}-${9_000 + ++made}`;
  const body = { Name, Level: 1, Provider: world.bench.provider.url, SecretKey: secret };
  const added = await world.call(owner.key, "POST", "/x-keys", body);
  const mapped = await world.call(owner.key, "PUT", "/x-config", { LEVEL_MAPPER: "*=1" });
  if (added.status !== 200 || mapped.status !== 200) throw new Error(`${added.text} ${mapped.text}`);
  return { id: added.body.key.ID, secret };
}
