// What is measured of a service on a store of one size, and what its answers must say. Throws WrongResult for an answer
// that is not what was stored; a slow one is only written down.

import type { AccountId } from "../actors/ids.ts";
import { exactUsd } from "../src/report/verify/conservation.ts";
import { WrongResult } from "./books.ts";
import { median, percentile } from "./figures.ts";
import { fullListBytes } from "./recent-requests.ts";
import { type Probed, probing } from "./scale-probe.ts";
import type { ScaleStage } from "./scale-stage.ts";
import { keyOf } from "./scale-store.ts";

/** Milliseconds and bytes, by what they are of. */
export interface Figures {
  readonly fillMs: number;
  readonly startMs: number;
  readonly rssIdle: number;
  /** Before the first bill, and the most while bills are made. */
  readonly rssQuiet: number;
  readonly rssBills: number;
  readonly rssAfter: number;
  readonly pages: Readonly<Record<string, number>>;
  readonly activationMs: number;
  /** The statement of money, which is computed once. */
  readonly moneyMs: number;
  readonly bill: Bill;
  readonly quiet: Slowness;
  readonly besideBills: Slowness;
  /** Memory of the lists of last requests when they are full; the same for every size. */
  readonly historyBytes: number;
}

/** How long one bill took until its first byte and until its last. */
interface Bill {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly bytes: number;
}

/** How long another account's requests took, in ms. */
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
/** A million charges are projected in a minute or two. */
const MONEY_WAIT_MS = 300_000;

export async function measured(stage: ScaleStage, note: (text: string) => void): Promise<Figures> {
  const { service, filled, fillMs, startMs } = stage;
  await Bun.sleep(1_000);
  const rssIdle = service.rssBytes();
  note("pages");
  const pages = await pagesOf(stage);
  note("activations");
  const activationMs = await activations(stage);
  const moneyMs = await moneyStated(stage);
  note("bills");
  const quiet = await probing(service.url, stage.otherKey, () => Bun.sleep(QUIET_MS));
  const rssQuiet = service.rssBytes();
  service.forgetPeak();
  await billed(stage);
  const beside = await probing(service.url, stage.otherKey, async () => {
    const bills: Bill[] = [];
    const until = performance.now() + BILLS_LEAST_MS;
    while (bills.length < BILLS || performance.now() < until) bills.push(await billed(stage));
    return bills;
  });
  if (filled.ids.length === 0) throw new WrongResult("a store without accounts");
  return {
    ...{ fillMs, startMs, pages, activationMs, moneyMs },
    ...{ rssIdle, rssQuiet, rssBills: service.peakBytes(), rssAfter: service.rssBytes() },
    bill: {
      firstMs: median(beside.result.map(({ firstMs }) => firstMs)),
      lastMs: median(beside.result.map(({ lastMs }) => lastMs)),
      bytes: beside.result[0]!.bytes,
    },
    quiet: slowness(quiet.probed),
    besideBills: slowness(beside.probed),
    historyBytes: fullListBytes(),
  };
}

const slowness = (probed: Probed): Slowness => ({ status: tail(probed.status), chat: tail(probed.chat) });
const tail = (samples: readonly number[]) => ({
  p50: median(samples),
  p99: percentile(samples, 0.99),
  max: Math.max(...samples),
});

/** A list that the Owner reads by pages, and what it must say of itself. */
interface Listed {
  readonly path: string;
  /** What the table calls it; the path where absent. */
  readonly name?: string;
  /** Rows that the store was filled with; the service itself may have written a few more. */
  readonly least: number;
  /** Its rows and total as an answer has them. */
  readonly read: (answer: { readonly response: Response; readonly text: string }) => {
    readonly rows: number;
    readonly total: number;
  };
}

const accountList = (path: string, least: number): Listed => ({
  ...{ path, least },
  read: ({ response, text }) => ({
    rows: (JSON.parse(text) as unknown[]).length,
    total: Number(response.headers.get("x-total-count")),
  }),
});

/** The subaccounts of the Owner in the order of a figure, which each row has to state. */
const rankedList = (owner: AccountId, sort: "balance" | "month_cost", least: number): Listed => ({
  ...accountList(`/x-users?parent=${owner}&sort=${sort}&order=desc&with=children,month_cost`, least),
  name: `/x-users?parent=&sort=${sort}&with=`,
  read({ response, text }) {
    const rows = JSON.parse(text) as readonly Readonly<Record<string, number>>[];
    const figures = rows.map((row) => row[sort === "balance" ? "Balance" : "month_cost"] ?? Number.NaN);
    for (const [i, { children }] of rows.entries()) {
      if (children === undefined || !(i === 0 || figures[i]! <= figures[i - 1]!)) {
        throw new WrongResult(`row ${i} by ${sort}: ${JSON.stringify(rows[i])} after ${figures[i - 1]}`);
      }
    }
    return { rows: rows.length, total: Number(response.headers.get("x-total-count")) };
  },
});

const lineList = (path: string, least: number, name: "lines" | "logs" | "accounts"): Listed => ({
  ...{ path, least },
  read: ({ text }) => {
    const said = JSON.parse(text) as { readonly total: number } & Record<typeof name, readonly unknown[]>;
    return { rows: said[name].length, total: said.total };
  },
});

/** The first, the middle and the last page of each list, for the Owner. The first page is asked once before. */
async function pagesOf(stage: ScaleStage): Promise<Readonly<Record<string, number>>> {
  const { filled } = stage;
  const { id } = JSON.parse((await get(stage, "/dashboard/status")).text) as { id: AccountId };
  const lists = [
    accountList("/x-users", filled.children),
    rankedList(id, "balance", filled.children),
    rankedList(id, "month_cost", filled.children),
    accountList("/x-dna", filled.ids.length),
    lineList("/dashboard/ledger", filled.ledgerLines, "lines"),
    lineList("/dashboard/logs", filled.logLines, "logs"),
    lineList("/x-attention", filled.ids.length, "accounts"),
  ];
  // Each account was given less, so that each is a row of `/x-attention`.
  const body = JSON.stringify({ USER_MIN_BALANCE: 1_000 });
  const headers = { authorization: `Bearer ${stage.ownerKey}`, "content-type": "application/json" };
  await fetch(`${stage.service.url}/x-config`, { method: "PUT", headers, body });
  const pages: Record<string, number> = {};
  for (const { path, name = path, least, read } of lists) {
    const paged = `${path}${path.includes("?") ? "&" : "?"}`;
    const pageOf = (page: number) => get(stage, `${paged}page=${page}&size=${PAGE_SIZE}`);
    const before = await pageOf(1);
    const { total } = read(before);
    pages[`${name}, first time`] = before.ms;
    const last = Math.max(1, Math.ceil(total / PAGE_SIZE));
    const places = [["first", 1] as const, ["middle", Math.ceil(last / 2)] as const, ["last", last] as const];
    for (const [place, page] of places) {
      const samples: number[] = [];
      for (let nth = 0; nth < PAGES; nth++) {
        const answer = await pageOf(page);
        const said = read(answer);
        const due = Math.min(PAGE_SIZE, total - (page - 1) * PAGE_SIZE);
        if (said.rows !== due || said.total !== total || total < least) {
          throw new WrongResult(`${path}: ${said.rows} rows of ${said.total}, not ${due} of ${total}`);
        }
        samples.push(answer.ms);
      }
      pages[`${name}, ${place} page`] = median(samples);
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

/** The first statement; while the sums of the filled store are still being made it is refused, and asked for again. */
async function moneyStated(stage: ScaleStage): Promise<number> {
  const until = performance.now() + MONEY_WAIT_MS;
  for (;;) {
    try {
      const { text, ms } = await get(stage, "/x-money");
      const said = JSON.parse(text) as { readonly difference: number; readonly charges: number };
      if (said.difference !== 0) throw new WrongResult(`/x-money does not add up: ${text}`);
      return ms;
    } catch (error) {
      const isRefused = error instanceof WrongResult && error.message.includes("service_unavailable");
      if (!isRefused || performance.now() > until) throw error;
      await Bun.sleep(2_000);
    }
  }
}

async function billed(stage: ScaleStage): Promise<Bill> {
  const { used, ids } = stage.filled;
  const { text, firstMs, ms: lastMs } = await get(stage, "/x-bill?days=30");
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
  return { firstMs, lastMs, bytes: text.length };
}

interface Billed {
  readonly total_requests: number;
  readonly total_credit_used: number;
  readonly usage_users: readonly { readonly total_requests: number }[];
}

/** Asks and reads to the end. Throws WrongResult for another status than 200. `firstMs` is when the first bytes of the body came, `ms` when the last did. */
export async function get(stage: ScaleStage, path: string, key = stage.ownerKey) {
  const began = performance.now();
  const response = await fetch(stage.service.url + path, { headers: { authorization: `Bearer ${key}` } });
  const pieces: Uint8Array[] = [];
  let firstMs: number | null = null;
  for await (const piece of response.body!) {
    firstMs ??= performance.now() - began;
    pieces.push(piece);
  }
  const ms = performance.now() - began;
  const text = Buffer.concat(pieces).toString();
  if (!response.ok) throw new WrongResult(`${path}: ${response.status} ${text}`);
  return { response, text, firstMs: firstMs ?? ms, ms };
}
