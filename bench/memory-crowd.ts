// How much memory many accounts and many open streams take: resident memory of the service while 20,000 accounts are asked ten
// times each, half a minute after that, when all of them are still in memory, and when they have been unloaded; while the number
// of accounts grows under a steady load; and with 8,000 idle streams. These measures take minutes, so they run only when they are
// named.

import { join } from "node:path";
import type { BenchAccount } from "./accounts.ts";
import { WrongResult } from "./books.ts";
import { grouped, megabytes } from "./figures.ts";
import type { Measure } from "./measure.ts";
import { AFTER_LOAD_MS } from "./memory.ts";
import type { MemoryJob, MemoryLoaded } from "./memory-load.ts";
import { onStage, type Stage } from "./stage.ts";

const SECRETS = ["sk-provider-first-0123456789", "sk-provider-second-0123456789"];
/** Accounts below one Owner: it may make three thousand a minute. */
const OWNED = 2_000;
const MADE_AT_ONCE = 16;
const SAMPLE_MS = 2_000;
/** By then idle actors are unloaded, and what they took is collected. */
const UNLOADED_MS = 180_000;

export const memoryAccounts: Measure = {
  name: "memory-accounts",
  about: "resident memory when 20,000 accounts have asked ten times each",
  isLong: true,
  run: (quick) =>
    onStage({}, async (stage) => {
      const [accounts, times] = [quick ? 4_000 : 20_000, 10];
      const fresh = stage.service.rssBytes();
      const crowd = await createCrowd(stage, accounts);
      const made = stage.service.rssBytes();
      stage.service.forgetPeak();
      const before = stage.service.cpuMs();
      const keys = crowd.map(({ key }) => key);
      const { answered, refused } = await load({ kind: "turns", url: stage.service.url, keys, times });
      const cpuUs = ((stage.service.cpuMs() - before) * 1_000) / answered;
      const [loaded, peak] = [stage.service.rssBytes(), stage.service.peakBytes()];
      await Bun.sleep(AFTER_LOAD_MS);
      const after = stage.service.rssBytes();
      await checkInMemory(stage, accounts);
      await Bun.sleep(UNLOADED_MS - AFTER_LOAD_MS);
      const unloaded = stage.service.rssBytes();
      await checkSome(stage, crowd, times);
      const shown = [fresh, made, peak, loaded, after, unloaded].map(megabytes).join(", ");
      return {
        rows: [
          {
            what: `Memory ${AFTER_LOAD_MS / 1_000} s after ${times} requests of each of ${grouped(accounts)} accounts`,
            service: `${megabytes(after)} MB, at most ${megabytes(peak)}`,
            passThrough: "",
            result: `${megabytes(after)} MB`,
            target: "≤ 300 MB",
            must: "≤ 450 MB",
          },
        ],
        notes: [
          `memory in MB, fresh, with ${grouped(accounts)} accounts, at most, right after the load, ${AFTER_LOAD_MS / 1_000} s later, unloaded: ${shown}`,
          `${cpuUs.toFixed(0)} µs of CPU per request, ${refused} requests refused and sent again`,
        ],
      };
    }),
};

export const memoryMixed: Measure = {
  name: "memory-mixed",
  about:
    "growth of resident memory at 300 requests a second while 250 accounts a minute are made; see --minutes",
  isLong: true,
  run: (quick, minutes = quick ? 6 : 20) =>
    onStage({}, async (stage) => {
      const accounts = minutes * 250 + 200;
      const ownerKey = await stage.admin.createEmptyOwner({ name: "mixed", secrets: SECRETS, accounts });
      const first: BenchAccount[] = [];
      while (first.length < 100) {
        first.push(await stage.admin.createAccount(ownerKey, `first-${first.length}`));
      }
      const curve: { readonly minute: number; readonly bytes: number }[] = [];
      const startedAt = performance.now();
      const sample = () =>
        curve.push({ minute: (performance.now() - startedAt) / 60_000, bytes: stage.service.rssBytes() });
      const sampling = setInterval(sample, SAMPLE_MS);
      const { answered, refused, made } = await load({
        ...{ kind: "mixed", url: stage.service.url, keys: first.map(({ key }) => key), ownerKey },
        ...{ perSecond: 300, madePerMinute: 250, ms: minutes * 60_000 },
      });
      clearInterval(sampling);
      const from = Math.min(5, minutes / 2);
      const growth = slope(curve.filter(({ minute }) => minute >= from));
      const byMinute = curve.filter(({ minute }, i) => i > 0 && Math.floor(minute) > curve[i - 1]!.minute);
      return {
        rows: [
          {
            what: `Growth of memory after minute ${from} of ${minutes}, mixed load`,
            service: `${megabytes(curve.at(-1)!.bytes)} MB at the end`,
            passThrough: "",
            result: `${(growth / 1024 / 1024).toFixed(1)} MB a minute`,
            target: "≤ 1 MB a minute",
            must: "≤ 3 MB a minute",
          },
        ],
        notes: [
          `${grouped(answered)} answers, ${refused} refused, ${grouped(made)} accounts made; memory in MB by minute: ` +
            byMinute.map(({ bytes }) => megabytes(bytes)).join(" "),
        ],
      };
    }),
};

export const memoryStreams: Measure = {
  name: "memory-streams",
  about: "resident memory with 8,000 streams that are open and idle",
  isLong: true,
  run: (quick) =>
    onStage({}, async (stage) => {
      const streams = quick ? 2_000 : 8_000;
      const crowd = await createCrowd(stage, 32);
      const fresh = stage.service.rssBytes();
      const keys = crowd.map(({ key }) => key);
      const child = startLoad({ kind: "streams", url: stage.service.url, keys, streams });
      const opened = await firstLine(child.stdout);
      assertRight(opened);
      const loaded = stage.service.rssBytes();
      await Bun.sleep(20_000);
      const idle = stage.service.rssBytes();
      const { inFlight } = await stage.facts();
      child.kill();
      await child.exited;
      // The requests are charged as aborted, for which a service that is stopped has too little time.
      while ((await stage.facts()).inFlight > 0) await Bun.sleep(SAMPLE_MS);
      await Bun.sleep(SAMPLE_MS);
      if (inFlight !== streams) throw new WrongResult(`${streams} streams, but ${inFlight} at the upstream`);
      return {
        rows: [
          {
            what: `Memory with ${grouped(streams)} idle streams`,
            service: `${megabytes(idle)} MB`,
            passThrough: "",
            result: `${((idle - fresh) / streams / 1024).toFixed(0)} KB a stream`,
            target: "≤ 819 MB",
          },
        ],
        notes: [
          `memory in MB, fresh, with all streams, 20 s later: ${[fresh, loaded, idle].map(megabytes).join(", ")}`,
        ],
      };
    }),
};

async function createCrowd({ admin }: Stage, accounts: number): Promise<BenchAccount[]> {
  const crowd: BenchAccount[] = [];
  for (let owner = 0; owner * OWNED < accounts; owner++) {
    const name = `crowd${owner}`;
    const ownerKey = await admin.createEmptyOwner({ name, secrets: SECRETS, accounts: OWNED });
    const here = Math.min(OWNED, accounts - owner * OWNED);
    let nth = 0;
    await Promise.all(
      Array.from({ length: MADE_AT_ONCE }, async () => {
        while (nth < here) crowd.push(await admin.createAccount(ownerKey, `${name}-${nth++}`));
      }),
    );
  }
  return crowd;
}

/** A figure of accounts that were unloaded would say nothing of what they take. */
async function checkInMemory({ admin }: Stage, accounts: number): Promise<void> {
  const counters = await admin.counters();
  const inMemory = counters.get("actors_loaded")! - counters.get("actors_evicted")!;
  if (!(inMemory >= accounts))
    throw new WrongResult(`${accounts} accounts, but ${inMemory} actors in memory`);
}

/** Reading a ledger activates its account, so only some are read, and after all was measured. */
async function checkSome({ admin }: Stage, crowd: readonly BenchAccount[], answers: number): Promise<void> {
  for (const account of crowd.filter((_, i) => i % 500 === 0)) {
    const { charges, spentNano, priceNano } = await admin.ledger(account);
    if (charges === answers && spentNano === answers * priceNano) continue;
    throw new WrongResult(`${answers} answers, but ${charges} charges of ${spentNano} nano-dollars`);
  }
}

function startLoad(job: MemoryJob) {
  return Bun.spawn([process.execPath, join(import.meta.dirname, "memory-load.ts")], {
    stdin: new Blob([JSON.stringify(job)]),
    stdout: "pipe",
    stderr: "inherit",
  });
}

async function load(job: MemoryJob): Promise<MemoryLoaded> {
  const loaded = await firstLine(startLoad(job).stdout);
  assertRight(loaded);
  return loaded;
}

async function firstLine(output: ReadableStream<Uint8Array>): Promise<MemoryLoaded> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of output) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes("\n")) return JSON.parse(text) as MemoryLoaded;
  }
  throw new WrongResult("the load did not come to its end");
}

function assertRight({ errors, firstError }: MemoryLoaded): void {
  if (errors > 0) throw new WrongResult(`${errors} wrong answers, the first: ${firstError}`);
}

/** Bytes a minute, by least squares. */
function slope(curve: readonly { readonly minute: number; readonly bytes: number }[]): number {
  const mean = (of: (one: { minute: number; bytes: number }) => number) =>
    curve.reduce((sum, one) => sum + of(one), 0) / curve.length;
  const [minute, bytes] = [mean((one) => one.minute), mean((one) => one.bytes)];
  const over = mean((one) => (one.minute - minute) * (one.bytes - bytes));
  return over / mean((one) => (one.minute - minute) ** 2);
}
