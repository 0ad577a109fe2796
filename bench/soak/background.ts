// What goes on beside the requests of a soak: administration that makes, changes and removes, a console that asks again and
// again with entity tags, and a provider whose keys fail, sleep and wake.

import { REQUEST_KINDS, sendRequest } from "./requests.ts";
import type { StatedPrices } from "./stated-prices.ts";
import { CHAT, type World } from "./world.ts";

/** How often each was done. */
export type Counts = Map<string, number>;

/** What the tasks beside the requests share. */
export interface Background {
  readonly world: World;
  readonly book: StatedPrices;
  readonly findings: string[];
  readonly counts: Counts;
  readonly isOver: () => boolean;
}

const ACT_PAUSE_MS = 300;
const POLL_PAUSE_MS = 250;
/** For how long a provider key fails, and for how long it is then left alone. */
const FAILING_MS = 4_000;
const SOUND_MS = 4_000;
/** The least that an account is made with. */
const PASSING_CREDIT = 2;
const PRICES = [
  { InputText: 1, OutputText: 2 },
  { InputText: 3, OutputText: 4 },
];

/** Resolves when all of it has come to its end. */
export async function runBackground(parts: Background): Promise<void> {
  await Promise.all([administer(parts), pollConsole(parts), breakKeys(parts)]);
}

const count = (counts: Counts, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);

/** Runs a task; what it throws is a finding. */
async function attempt(
  { findings, counts }: Background,
  name: string,
  task: () => Promise<void>,
): Promise<void> {
  try {
    await task();
    count(counts, name);
  } catch (error) {
    findings.push(`${name}: ${error}`);
  }
}

async function administer(parts: Background): Promise<void> {
  const { world, isOver } = parts;
  const { call, ownerKey } = world;
  const acts: readonly (readonly [name: string, act: (nth: number) => Promise<void>])[] = [
    ["an account made, used and deleted", (nth) => useAccount(parts, nth)],
    ["an API key made, used and deleted", (nth) => useApiKey(parts, nth)],
    [
      "credit given and taken back",
      async (nth) => {
        const { id } = world.accounts[nth % world.accounts.length]!;
        for (const CreditGranted of [0.5, -0.5])
          await call(ownerKey, "PUT", `/x-users/${id}`, { CreditGranted });
      },
    ],
    [
      "prices changed",
      async (nth) => {
        const ChatPricing = { [CHAT]: PRICES[nth % PRICES.length] };
        await call(ownerKey, "PUT", "/x-config", { PRICING: { ChatPricing } });
      },
    ],
    [
      "a provider key added and removed",
      async (nth) => {
        const added = {
          Level: 3,
          Provider: world.provider.url,
          SecretKey: `sk-provider-extra-${1_000 + nth}`,
        };
        const { key } = await call<{ key: { ID: number } }>(ownerKey, "POST", "/x-keys", added);
        await call(ownerKey, "DELETE", `/x-keys/${key.ID}`);
      },
    ],
  ];
  for (let nth = 0; !isOver(); nth++) {
    const [name, act] = acts[nth % acts.length]!;
    await attempt(parts, name, () => act(nth));
    await Bun.sleep(ACT_PAUSE_MS);
  }
}

async function useAccount({ world, book, findings }: Background, nth: number): Promise<void> {
  const account = await world.createAccount(`soak-passing-${nth}`, PASSING_CREDIT);
  await sendRequest(world, book, { kind: REQUEST_KINDS[0]!, account, id: `passing-${nth}` }, findings);
  await world.call(world.ownerKey, "DELETE", `/x-users/${account.id}`);
}

async function useApiKey({ world, book, findings }: Background, nth: number): Promise<void> {
  const account = world.accounts[nth % world.accounts.length]!;
  const made = await world.call<{ key: { id: number }; secret: string }>(
    account.key,
    "POST",
    "/dashboard/keys",
    {
      Name: `soak ${nth}`,
    },
  );
  const request = { kind: REQUEST_KINDS[1]!, account, key: made.secret, id: `named-${nth}` };
  await sendRequest(world, book, request, findings);
  await world.call(account.key, "DELETE", `/dashboard/keys/${made.key.id}`);
}

/** What the console's pages ask for again and again, and whose key they use. */
const POLLED: readonly (readonly [who: "owner" | "account" | "quiet" | "root", path: string])[] = [
  ["account", "/dashboard/live"],
  ["account", "/dashboard/ledger?size=20&totals=true"],
  ["account", "/dashboard/requests"],
  ["account", "/dashboard/bill?days=7"],
  ["quiet", "/dashboard/live"],
  ["quiet", "/dashboard/ledger?size=20"],
  ["quiet", "/dashboard/bill?days=7"],
  ["owner", "/x-users?page=1&size=50"],
  ["owner", "/x-keys"],
  ["owner", "/x-conf"],
  ["owner", "/x-events"],
  ["owner", "/x-attention"],
  ["owner", "/x-bill?days=1&group=model"],
  ["owner", "/dashboard/logs?size=20"],
  ["root", "/x-cluster"],
  ["root", "/metrics"],
];

async function pollConsole(parts: Background): Promise<void> {
  const { world, counts, findings, isOver } = parts;
  const { rootKey: root, ownerKey: owner, accounts, quiet } = world;
  const keys = { root, owner, account: accounts[0]!.key, quiet: quiet.key };
  const tags = new Map<string, string>();
  for (let nth = 0; !isOver(); nth++) {
    const [who, path] = POLLED[nth % POLLED.length]!;
    const tag = tags.get(who + path);
    try {
      const response = await fetch(world.service.url + path, {
        headers: { authorization: `Bearer ${keys[who]}`, ...(tag !== undefined && { "if-none-match": tag }) },
      });
      await response.arrayBuffer();
      const { status, headers } = response;
      if (status === 200 || status === 304) count(counts, `console: ${status}`);
      else if (status === 503 && headers.has("retry-after")) count(counts, "console: refused");
      else findings.push(`console: GET ${path}: ${status}`);
      const etag = headers.get("etag");
      if (etag !== null) tags.set(who + path, etag);
    } catch (error) {
      findings.push(`console: GET ${path}: ${error}`);
    }
    await Bun.sleep(POLL_PAUSE_MS);
  }
}

/** One key after the other fails until it sleeps; every second one is woken by hand, the others by themselves. */
async function breakKeys(parts: Background): Promise<void> {
  const { world, isOver } = parts;
  for (let nth = 0; !isOver(); nth++) {
    const { id, secret } = world.keys[nth % world.keys.length]!;
    world.provider.behave(secret, "fault=500");
    await pause(FAILING_MS, isOver);
    world.provider.behave(secret, null);
    if (nth % 2 === 0)
      await attempt(parts, "a provider key failed, and was woken", async () => {
        await world.call(world.ownerKey, "PUT", `/x-keys/${id}`, { Sleep: false });
      });
    await pause(SOUND_MS, isOver);
  }
}

const STEP_MS = 100;

async function pause(ms: number, isOver: () => boolean): Promise<void> {
  for (let waited = 0; waited < ms && !isOver(); waited += STEP_MS) await Bun.sleep(STEP_MS);
}
