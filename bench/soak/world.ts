// What a soak runs on: the service as it ships on a database of its own, a stand-in provider in this process, and an Owner
// with keys of both styles and accounts, made over HTTP. It asks no model.

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Provider, startProvider } from "../../test/provider/provider.ts";
import type { Process } from "../process.ts";
import { serve } from "../serve.ts";

/** An account that clients use. */
export interface SoakAccount {
  readonly id: number;
  readonly name: string;
  readonly key: string;
}

/** A provider key that a soak breaks and mends. */
export interface SoakKey {
  readonly id: number;
  readonly secret: string;
}

export interface World {
  readonly service: Process;
  readonly provider: Provider;
  readonly rootKey: string;
  readonly ownerKey: string;
  /** The settings with which commands read the same database. */
  readonly env: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** Keys of the Level of chat models. */
  readonly keys: readonly SoakKey[];
  /** Accounts of clients that read their answers to the end. */
  readonly accounts: readonly SoakAccount[];
  /** Accounts of clients that break answers off, which limits them. */
  readonly aborters: readonly SoakAccount[];
  /** An account that asks nothing, whose pages stay as they are. */
  readonly quiet: SoakAccount;
  /** Calls the service. Throws when the answer is not 2xx. */
  call<T>(key: string, method: string, path: string, body?: object): Promise<T>;
  createAccount(name: string, credit: number): Promise<SoakAccount>;
  /** Ends the service. */
  stop(): Promise<void>;
  close(): void;
}

export const CHAT = "gpt-4o-mini";
export const MESSAGES = "claude-haiku-4-5";
const ACCOUNTS = 20;
const ABORTERS = 10;
const CREDIT = 1_000;

/** Starts all of it in a directory. `heapFile`: where the service writes what lives in its heap; null: nowhere. */
export async function startWorld(directory: string, heapFile: string | null = null): Promise<World> {
  const rootKey = `sk-${randomBytes(24).toString("hex")}`;
  const secretsKey = randomBytes(32).toString("base64");
  const storeUrl = `sqlite:${join(directory, "soak.db")}`;
  const logFile = join(directory, "service.log");
  const provider = startProvider({ remember: false });
  const env = {
    ...{ API_RPM: "1000000", LOG_FORMAT: "json" },
    ...(heapFile !== null && { SOAK_HEAP_FILE: heapFile }),
  };
  const flags = heapFile === null ? [] : ["--preload", join(import.meta.dirname, "heap-probe.ts")];
  const spoolDir = join(directory, "spool");
  let service: Process;
  try {
    service = await serve({ storeUrl, spoolDir, rootKey, secretsKey, env, flags, logFile });
  } catch (error) {
    provider.close();
    throw error;
  }

  const call: World["call"] = async <T>(key: string, method: string, path: string, body?: object) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const create = async (key: string, name: string, credit: number): Promise<SoakAccount> => {
    const { User } = await call<{ User: { ID: number; SecretKey: string } }>(key, "POST", "/x-users", {
      ...{ Name: name, Email: `${name}@soak.example`, CreditGranted: credit },
    });
    return { id: User.ID, key: User.SecretKey, name };
  };
  const owner = await create(rootKey, "soak", CREDIT * (ACCOUNTS + ABORTERS + 10));
  const addKey = async (level: number, style: string, nth: number): Promise<SoakKey> => {
    const secret = `sk-provider-${style}-${1_000 + nth}`;
    const { key } = await call<{ key: { ID: number } }>(owner.key, "POST", "/x-keys", {
      ...{ Level: level, Provider: provider.url, SecretKey: secret, Config: { api_style: style } },
    });
    return { id: key.ID, secret };
  };
  const keys = [await addKey(1, "chat", 1), await addKey(1, "chat", 2), await addKey(1, "chat", 3)];
  for (const nth of [4, 5]) await addKey(2, "messages", nth);
  await call(owner.key, "PUT", "/x-config", { LEVEL_MAPPER: "claude-*=2,*=1" });
  const accounts: SoakAccount[] = [];
  for (let nth = 1; nth <= ACCOUNTS + ABORTERS; nth++)
    accounts.push(await create(owner.key, `soak-${nth}`, CREDIT));

  return {
    ...{ service, provider, rootKey, logFile, keys, call },
    ownerKey: owner.key,
    env: { STORE_URL: storeUrl, SECRETS_KEY: secretsKey },
    accounts: accounts.slice(0, ACCOUNTS),
    aborters: accounts.slice(ACCOUNTS),
    quiet: await create(owner.key, "soak-quiet", CREDIT),
    createAccount: (name, credit) => create(owner.key, name, credit),
    stop: () => service.stop(),
    close: () => provider.close(),
  };
}
