// What is measured of a service on a store of one size, and what its answers must say. Throws WrongResult for an answer
// that is not what was stored; a slow one is only written down.

import type { AccountId } from "../actors/ids.ts";
import { exactUsd } from "../src/report/verify/conservation.ts";
import { WrongResult } from "./books.ts";
import { median, percentile } from "./figures.ts";
import { type Probed, probing } from "./scale-probe.ts";
import type { ScaleStage } from "./scale-stage.ts";
import { keyOf } from "./scale-store.ts";

/** Milliseconds and bytes, by what they are of. */
export interface Figures {
  readonly fillMs: number;
  readonly startMs: number;
  readonly rssIdle: number;
  readonly rssAfter: number;
  readonly pages: Readonly<Record<string, number>>;
  readonly activationMs: number;
  readonly billMs: number;
  readonly billBytes: number;
  readonly quiet: Slowness;
  readonly besideBills: Slowness;
}

/** Of somebody else's requests. */
export type Slowness = Readonly<
  Record<keyof Probed, { readonly p50: number; readonly p99: number; readonly max: number }>
>;

const PAGES = 15;
const ACTIVATIONS = 100;
const BILLS = 5;
/** Short bills are asked for more often: somebody else's slowest hundredth is then more than one request. */
const BILLS_LEAST_MS = 5_000;
const QUIET_MS = 5_000;
const PAGE_SIZE = 100;

export async function measured(stage: ScaleStage, note: (text: string) => void): Promise<Figures> {
  const { service, filled, fillMs, startMs } = stage;
  await Bun.sleep(1_000);
  const rssIdle = service.rssBytes();
  note("pages");
  const pages = await pagesOf(stage);
  note("activations");
  const activationMs = await activations(stage);
  note("bills");
  await bill(stage);
  const quiet = await probing(service.url, stage.otherKey, () => Bun.sleep(QUIET_MS));
  const beside = await probing(service.url, stage.otherKey, async () => {
    const bills: { readonly ms: number; readonly bytes: number }[] = [];
    const until = performance.now() + BILLS_LEAST_MS;
    while (bills.length < BILLS || performance.now() < until) bills.push(await bill(stage));
    return bills;
  });
  if (filled.ids.length === 0) throw new WrongResult("a store without accounts");
  return {
    ...{ fillMs, startMs, rssIdle, rssAfter: service.rssBytes(), pages, activationMs },
    billMs: median(beside.result.map(({ ms }) => ms)),
    billBytes: beside.result[0]!.bytes,
    quiet: slowness(quiet.probed),
    besideBills: slowness(beside.probed),
  };
}

const slowness = (probed: Probed): Slowness => ({ status: tail(probed.status), chat: tail(probed.chat) });
const tail = (samples: readonly number[]) => ({
  p50: median(samples),
  p99: percentile(samples, 0.99),
  max: Math.max(...samples),
});

/** The first, the middle and the last page of each list, for the Owner. */
async function pagesOf(stage: ScaleStage): Promise<Readonly<Record<string, number>>> {
  const { filled } = stage;
  const lists = [
    ["/x-users", filled.children],
    ["/x-dna", filled.ids.length],
  ] as const;
  const pages: Record<string, number> = {};
  for (const [path, total] of lists) {
    const last = Math.ceil(total / PAGE_SIZE);
    const places = [["first", 1] as const, ["middle", Math.ceil(last / 2)] as const, ["last", last] as const];
    for (const [place, page] of places) {
      const samples: number[] = [];
      for (let nth = 0; nth < PAGES; nth++) {
        const { response, text, ms } = await get(stage, `${path}?page=${page}&size=${PAGE_SIZE}`);
        const rows = JSON.parse(text) as { readonly ID: AccountId }[];
        const due = Math.min(PAGE_SIZE, total - (page - 1) * PAGE_SIZE);
        const said = Number(response.headers.get("x-total-count"));
        if (rows.length !== due || said !== total) {
          throw new WrongResult(`${path}: ${rows.length} rows of ${said}, not ${due} of ${total}`);
        }
        samples.push(ms);
      }
      pages[`${path}, ${place} page`] = median(samples);
    }
  }
  return pages;
}

/** The first request of accounts that nobody has met since the start. */
async function activations(stage: ScaleStage): Promise<number> {
  const { ids } = stage.filled;
  const samples: number[] = [];
  const step = Math.floor(ids.length / ACTIVATIONS);
  for (let nth = 0; nth < ACTIVATIONS; nth++) {
    const id = ids[nth * step]!;
    const { text, ms } = await get(stage, "/dashboard/status", keyOf(id));
    if ((JSON.parse(text) as { id: AccountId }).id !== id) throw new WrongResult(`${text} is not ${id}`);
    samples.push(ms);
  }
  return median(samples);
}

async function bill(stage: ScaleStage): Promise<{ readonly ms: number; readonly bytes: number }> {
  const { used, ids } = stage.filled;
  const { text, ms } = await get(stage, "/x-bill?days=30");
  const said = JSON.parse(text) as Billed;
  const cost = Number(exactUsd(used.cost));
  if (said.total_requests !== used.requests || said.total_credit_used !== cost) {
    throw new WrongResult(
      `the bill says ${said.total_requests} requests for ${said.total_credit_used}, not ${used.requests} for ${cost}`,
    );
  }
  const requests = said.usage_users.reduce((sum, one) => sum + one.total_requests, 0);
  if (said.usage_users.length !== ids.length || requests !== used.requests) {
    throw new WrongResult(`${said.usage_users.length} accounts with ${requests} requests in the bill`);
  }
  return { ms, bytes: text.length };
}

interface Billed {
  readonly total_requests: number;
  readonly total_credit_used: number;
  readonly usage_users: readonly { readonly total_requests: number }[];
}

async function get(stage: ScaleStage, path: string, key = stage.ownerKey) {
  const began = performance.now();
  const response = await fetch(stage.service.url + path, { headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  const ms = performance.now() - began;
  if (!response.ok) throw new WrongResult(`${path}: ${response.status} ${text}`);
  return { response, text, ms };
}
