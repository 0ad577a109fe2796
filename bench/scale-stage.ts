// The service on a store of a given size: made by hand of the service itself as far as an Owner and somebody else, filled
// in bulk, and started anew a month later. Owns the processes and the directory, and takes both away.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AccountId } from "../actors/ids.ts";
import { DAY_MS } from "../actors/time.ts";
import type { Process } from "./process.ts";
import { DAYS, type Marks } from "./scale-charges.ts";
import { creditFor, type Filled, fill } from "./scale-store.ts";
import { serve, startUpstream } from "./serve.ts";
import { LEVEL_MAPPER } from "./styles.ts";

export interface ScaleStage {
  readonly service: Process;
  /** From its first instruction to its address. */
  readonly startMs: number;
  readonly fillMs: number;
  readonly storePath: string;
  readonly filled: Filled;
  /** Keys of the Owner of the accounts, and of an account of another Owner. */
  readonly ownerKey: string;
  readonly otherKey: string;
}

/** What a store is filled with. */
export interface ScalePlan {
  readonly accounts: number;
  readonly charges: number;
  readonly marks?: Marks;
}

export async function onScale<T>(
  { accounts, charges, marks = "none" }: ScalePlan,
  measure: (stage: ScaleStage) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-scale-"));
  const storePath = join(directory, "scale.db");
  const upstream = await startUpstream();
  const rootKey = `sk-${randomBytes(24).toString("hex")}`;
  const secretsKey = randomBytes(32).toString("base64");
  const started = (more: Readonly<Record<string, string>> = {}) =>
    serve({
      storeUrl: `sqlite:${storePath}`,
      spoolDir: join(directory, "spool"),
      rootKey,
      secretsKey,
      env: { API_RPM: "1000000", ...more },
    });
  const running = [upstream];
  try {
    const first = await started();
    running.push(first);
    const owner = await ownerBelow(first.url, rootKey, "scale", creditFor(accounts), upstream.url);
    const other = await ownerBelow(first.url, rootKey, "other", 1_000, upstream.url);
    await first.stop();
    running.pop();

    const began = performance.now();
    const filled = await fill(storePath, { owner: owner.id, accounts, charges, marks });
    const fillMs = performance.now() - began;

    const starting = performance.now();
    const offset = { ALLOW_CLOCK_OFFSET: "1", CLOCK_OFFSET_MS: String(DAYS * DAY_MS) };
    const service = await started(offset);
    const startMs = performance.now() - starting;
    running.push(service);
    const keys = { ownerKey: owner.key, otherKey: other.key };
    return await measure({ service, startMs, fillMs, storePath, filled, ...keys });
  } finally {
    for (const one of running.reverse()) await one.stop();
    rmSync(directory, { recursive: true });
  }
}

async function ownerBelow(
  url: string,
  rootKey: string,
  name: string,
  credit: number,
  upstreamUrl: string,
): Promise<{ readonly id: AccountId; readonly key: string }> {
  const account = { Name: name, Email: `${name}@bench.example`, CreditGranted: credit };
  const { User } = await send<{ User: { ID: AccountId; SecretKey: string } }>(
    url,
    rootKey,
    "POST",
    "/x-users",
    account,
  );
  const provider = { Level: 1, Provider: upstreamUrl, SecretKey: "sk-provider-0123456789-scale" };
  await send(url, User.SecretKey, "POST", "/x-keys", { ...provider, Config: { api_style: "chat" } });
  await send(url, User.SecretKey, "PUT", "/x-config", { LEVEL_MAPPER });
  return { id: User.ID, key: User.SecretKey };
}

async function send<T>(url: string, key: string, method: string, path: string, body: object): Promise<T> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
