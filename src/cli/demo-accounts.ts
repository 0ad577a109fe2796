// Creates the accounts and keys of the demo: Root, an Owner with two Levels of keys, one per API style, and a
// subaccount. It must use the HTTP API only, like a script of a customer.

import type { Provider } from "../../test/provider/provider.ts";

/** A model of each API style, and the provider keys that serve it in turns. */
export const CHAT_MODEL = {
  model: "gpt-4o-mini",
  level: 1,
  secrets: ["sk-provider-first-0123456789", "sk-provider-second-0123456789"],
};
/** See `CHAT_MODEL`. */
export const MESSAGES_MODEL = {
  model: "claude-haiku-4-5",
  level: 2,
  secrets: ["sk-provider-third-0123456789", "sk-provider-fourth-0123456789"],
};

/** An embeddings model; the keys of the chat style serve it too. */
export const EMBEDDINGS_MODEL = { model: "text-embedding-3-small" };

/** The API keys of the demo's accounts. */
export interface DemoAccounts {
  readonly rootKey: string;
  readonly ownerKey: string;
  /** Id of a provider key of the messages style. */
  readonly keyId: number;
  readonly userKey: string;
}

/** Initial credit of the subaccount, in US dollars. */
export const CREDIT = 10;

/** Creates all accounts and keys. Throws an error with the response when a request is refused. */
export async function createDemoAccounts(
  url: string,
  rootKey: string,
  provider: Provider,
): Promise<DemoAccounts> {
  const owner = await call(url, rootKey, "POST", "/x-users", {
    Name: "acme",
    Email: "owner@acme.example",
    CreditGranted: 100,
  });
  const ownerKey: string = owner.User.SecretKey;
  let keyId = 0;
  for (const [style, { level, secrets }] of Object.entries({ chat: CHAT_MODEL, messages: MESSAGES_MODEL })) {
    for (const SecretKey of secrets) {
      const key = { Level: level, Provider: provider.url, SecretKey, Config: { api_style: style } };
      keyId = (await call(url, ownerKey, "POST", "/x-keys", key)).key.ID;
    }
  }
  const LEVEL_MAPPER = `claude-*=${MESSAGES_MODEL.level},*=${CHAT_MODEL.level}`;
  await call(url, ownerKey, "PUT", "/x-config", { LEVEL_MAPPER });
  const user = await call(url, ownerKey, "POST", "/x-users", {
    Name: "team-blue",
    Email: "blue@acme.example",
    CreditGranted: CREDIT,
  });
  return { rootKey, ownerKey, keyId, userKey: user.User.SecretKey };
}

/** Sends one request and returns the JSON of its response. Throws when the status is not 2xx. */
export async function call(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: object,
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads answers as a stranger's script would
): Promise<any> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}
