// A small tree of accounts on the real service and the stand-in provider: what the commands and the verification are
// tried on, and what the store fixture is made of.

import { dirname, join } from "node:path";
import { silent } from "../../src/base/log.ts";
import { startService } from "../../src/node/service.ts";
import { readSettings, type Settings } from "../../src/settings/settings.ts";
import { startProvider } from "../provider/provider.ts";

export const ROOT_KEY = "root-key-of-a-test-0123456789abcdef";
export const SECRETS_KEY = Buffer.from("a secrets key for tests, 32 byte").toString("base64");

export interface Member {
  readonly id: number;
  readonly key: string;
}

/** Settings of a service on this database; the clock may be shifted while it runs. */
export function settingsFor(path: string, env: Readonly<Record<string, string>> = {}): Settings {
  return readSettings(
    {
      PORT: "0",
      STORE_URL: `sqlite:${path}`,
      SPOOL_DIR: join(dirname(path), "spool"),
      PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
      LOG_LEVEL: "error",
      ROOT_KEY,
      SECRETS_KEY,
      ...env,
    },
    false,
  );
}

/** Root, an Owner with two keys, two subaccounts with credit, on a service that runs. */
export async function startTree(path: string, env: Readonly<Record<string, string>> = {}) {
  const settings: { -readonly [K in keyof Settings]: Settings[K] } = settingsFor(path, env);
  const provider = startProvider();
  const service = await startService(settings, silent);
  const root: Member = { id: 1, key: settings.rootKey! };

  async function call(key: string, method: string, path: string, body?: object) {
    const response = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are read as a stranger's script would
    const answer: any = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }

  async function user(
    parent: string,
    fields: { Name: string; CreditGranted: number; [field: string]: unknown },
  ): Promise<Member> {
    const { User } = await call(parent, "POST", "/x-users", {
      Email: `${fields.Name}@example.com`,
      ...fields,
    });
    return { id: User.ID, key: User.SecretKey };
  }

  async function keys(key: string): Promise<void> {
    for (const Name of ["first", "second"]) {
      const SecretKey = `sk-provider-${Name}-0123456789`;
      await call(key, "POST", "/x-keys", { Name, Level: 1, Provider: provider.url, SecretKey });
    }
    await call(key, "PUT", "/x-config", { LEVEL_MAPPER: "gpt-*=1,deepseek-*=1" });
  }

  await keys(root.key);
  const owner = await user(root.key, { Name: "acme", CreditGranted: 100 });
  await keys(owner.key);
  const blue = await user(owner.key, { Name: "blue", CreditGranted: 10 });
  const green = await user(owner.key, { Name: "green", CreditGranted: 12.345678901 });

  return {
    service,
    settings,
    root,
    owner,
    blue,
    green,
    call,
    user,
    /** Asks and reads the answer to its end, however it ends. */
    async chat(
      key: string,
      content: string,
      {
        stream = false,
        model = "gpt-4o-mini",
        request,
        tags,
      }: { stream?: boolean; model?: string; request?: string; tags?: string } = {},
    ): Promise<void> {
      const response = await fetch(`${service.url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${key}`,
          ...(request ? { "x-request-id": request } : {}),
          ...(tags ? { "x-arbor-tags": tags } : {}),
        },
        body: JSON.stringify({ model, stream, messages: [{ role: "user", content }] }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${text}`);
    },
    /** Shifts business time. */
    passTime(ms: number): void {
      settings.clockOffsetMs += ms;
    },
    now: () => Date.now() + settings.clockOffsetMs,
    async stop(): Promise<void> {
      await service.stop();
      await provider.close();
    },
  };
}

export type Tree = Awaited<ReturnType<typeof startTree>>;
