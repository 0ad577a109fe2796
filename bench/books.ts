// Compares what clients were answered, key by key, with what the ledgers say. A load through it fails at once when an answer is
// wrong, and at the end unless there are exactly as many charges as answers, at exactly their price.

import { join } from "node:path";
import type { Administration, BenchAccount } from "./accounts.ts";
import type { Job, Loaded, Target } from "./load.ts";
import { bodyText, STYLES, type StyleName } from "./styles.ts";
import type { UpstreamFacts } from "./upstream.ts";

/** Something was not as it must be: the run counts for nothing. */
export class WrongResult extends Error {}

export interface Books {
  /** Runs a job in a process of its own; throws WrongResult when an answer was wrong. */
  load(job: Omit<Job, "style">): Promise<Loaded>;
  /** Makes answers to a named API key count for the account with this main key. */
  countFor(namedKey: string, mainKey: string): void;
  /** Throws WrongResult unless all targets send the same request upstream and the same answer back, byte for byte. */
  checkSame(targets: readonly Target[], facts: () => Promise<UpstreamFacts>): Promise<void>;
  /** Throws WrongResult unless these accounts have a charge for each answer and are poorer by just that, to the nano-dollar. */
  checkLedgers(admin: Administration, accounts: readonly BenchAccount[]): Promise<void>;
}

/** Accounts whose ledgers are read at the same time. */
const CHECKED_AT_ONCE = 16;

export function openBooks(style: StyleName): Books {
  const answered = new Map<string, number>();
  const mainKeys = new Map<string, string>();
  const enter = (key: string, answers: number) => {
    const account = mainKeys.get(key) ?? key;
    answered.set(account, (answered.get(account) ?? 0) + answers);
  };

  async function askOnce({ url, keys }: Target, stream: boolean): Promise<string> {
    const { path, headers } = STYLES[style];
    const key = keys[0]!;
    const response = await fetch(url + path, {
      method: "POST",
      headers: { ...headers(key), "content-type": "application/json" },
      body: bodyText(style, { stream }),
    });
    const text = await response.text();
    if (response.status !== 200) throw new WrongResult(`${response.status} ${text}`);
    enter(key, 1);
    return text;
  }

  return {
    countFor: (namedKey, mainKey) => void mainKeys.set(namedKey, mainKey),
    async load(job) {
      const loaded = await runJob({ ...job, style });
      for (const [target, { keys }] of job.targets.entries()) {
        for (const [nth, key] of keys.entries()) enter(key, loaded.answered[target]![nth]!);
      }
      if (loaded.errors > 0)
        throw new WrongResult(`${loaded.errors} wrong answers, the first: ${loaded.firstError}`);
      return loaded;
    },
    async checkSame(targets, facts) {
      for (const stream of [false, true]) {
        const seen: { asked: string; said: string }[] = [];
        for (const target of targets) {
          const said = await askOnce(target, stream);
          seen.push({ asked: (await facts()).lastBody, said });
        }
        for (const { asked, said } of seen) {
          if (asked !== seen[0]!.asked)
            throw new WrongResult(`unlike requests:\n${asked}\n${seen[0]!.asked}`);
          if (said !== seen[0]!.said) throw new WrongResult(`unlike answers:\n${said}\n${seen[0]!.said}`);
        }
      }
    },
    async checkLedgers(admin, accounts) {
      await noChargeWaits(admin);
      async function check(account: BenchAccount): Promise<void> {
        const answers = answered.get(account.key) ?? 0;
        const { charges, spentNano, priceNano } = await admin.ledger(account);
        if (charges !== answers)
          throw new WrongResult(`${answers} answers, but ${charges} charges in the ledger`);
        if (answers > 0 && spentNano !== answers * priceNano)
          throw new WrongResult(
            `${answers} answers at ${priceNano} nano-dollars, but ${spentNano} are gone from the balance`,
          );
      }
      for (let first = 0; first < accounts.length; first += CHECKED_AT_ONCE)
        await Promise.all(accounts.slice(first, first + CHECKED_AT_ONCE).map(check));
    },
  };
}

/** How long charges may wait for a ledger after the last answer, and how often they are counted meanwhile, ms. */
const WAITING_MS_MAX = 60_000;
const COUNT_MS = 250;

/** Resolves when the ledgers have all charges. A store that was too slow has its node keep some, and send them again. */
async function noChargeWaits(admin: Administration): Promise<void> {
  const until = performance.now() + WAITING_MS_MAX;
  for (;;) {
    const waiting = await admin.chargesWaiting();
    if (waiting === 0) return;
    if (performance.now() > until) throw new WrongResult(`${waiting} charges still wait for their ledgers`);
    await Bun.sleep(COUNT_MS);
  }
}

/**
 * A load that takes a refusal because the store is slow for no wrong answer: a busy machine makes it slow. `refused` counts the
 * refusals so far.
 */
export function allowingRefusals(load: Books["load"]): {
  readonly load: Books["load"];
  refused(): number;
} {
  let refused = 0;
  return {
    async load(job) {
      const loaded = await load({ ...job, mayRefuse: true });
      refused += loaded.refused;
      return loaded;
    },
    refused: () => refused,
  };
}

/** No job takes half as long: a job that still runs then waits for an answer that never comes. */
const JOB_MS_MAX = 120_000;

async function runJob(job: Job): Promise<Loaded> {
  const child = Bun.spawn([process.execPath, join(import.meta.dirname, "load.ts")], {
    stdin: Buffer.from(JSON.stringify(job)),
    stdout: "pipe",
    stderr: "inherit",
  });
  const tooLate = setTimeout(() => child.kill(), JOB_MS_MAX);
  const text = await new Response(child.stdout).text();
  clearTimeout(tooLate);
  if ((await child.exited) !== 0) throw new WrongResult("the load did not come to its end");
  return JSON.parse(text) as Loaded;
}
