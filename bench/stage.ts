// What a measure runs on: the upstream, the service on a store of its own, the pass-through, and the load between them.
// It counts every answer that a client got, and at the end the ledger must hold exactly as many charges, at their price.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Administration, administration, type BenchAccount } from "./accounts.ts";
import type { Job, Loaded, Target } from "./load.ts";
import { type Process, start } from "./process.ts";
import { bodyText, DEAD, STYLES, type StyleName } from "./styles.ts";
import type { UpstreamFacts } from "./upstream.ts";

export class WrongResult extends Error {}

export interface Stage {
  readonly service: Process;
  readonly passThrough: Process;
  readonly admin: Administration;
  /** The service with the first N accounts in turn. */
  serviceFor(accounts: number): Target;
  readonly yardstick: Target;
  /** Both again, with a dead key before the sound one; only with `deadKey`. */
  readonly failing: { readonly service: Target; readonly yardstick: Target };
  /** Runs a job in a process of its own; throws WrongResult when an answer was wrong. */
  load(job: Omit<Job, "style">): Promise<Loaded>;
  facts(): Promise<UpstreamFacts>;
}

export interface StageOptions {
  /** What is asked, and what the provider keys speak: chat, if nothing is said. */
  readonly style?: StyleName;
  /** What the provider keys speak where it is not what is asked, so that all is translated. */
  readonly keys?: StyleName;
  readonly accounts?: number;
  /** An Owner besides whose first key never answers, and never sleeps for it. What the service logs is then not shown. */
  readonly deadKey?: boolean;
  /** Flags of Bun for the service's process. */
  readonly flags?: readonly string[];
}

export async function onStage<T>(options: StageOptions, measure: (stage: Stage) => Promise<T>): Promise<T> {
  const { style = "chat", keys = style, deadKey = false } = options;
  const directory = mkdtempSync(join(tmpdir(), "arborgate-bench-"));
  const rootKey = `sk-${randomBytes(24).toString("hex")}`;
  const running: Process[] = [];
  const run = async (...given: Parameters<typeof start>) => {
    const started = await start(...given);
    running.push(started);
    return started;
  };
  try {
    const upstream = await run([besides("upstream.ts")]);
    const { path, headers } = STYLES[style];
    const passThrough = await run([
      besides("pass-through.ts"),
      upstream.url + path,
      ...Object.keys(headers("")),
    ]);
    const service = await run(
      [...(options.flags ?? []), besides("../src/main.ts"), "serve"],
      {
        HOST: "127.0.0.1",
        PORT: "0",
        STORE_URL: `sqlite:${join(directory, "bench.db")}`,
        SPOOL_DIR: join(directory, "spool"),
        ROOT_KEY: rootKey,
        SECRETS_KEY: randomBytes(32).toString("base64"),
        PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
        LOG_LEVEL: "warn",
        ...(deadKey ? { KEY_FAILURES: NEVER } : {}),
      },
      deadKey ? join(directory, "service.log") : null,
    );
    const admin = administration({
      serviceUrl: service.url,
      upstreamUrl: upstream.url,
      rootKey,
      style: keys,
    });
    const sound = await admin.createOwner({
      name: "sound",
      secrets: SOUND_SECRETS,
      accounts: options.accounts ?? 1,
    });
    const failing = deadKey
      ? await admin.createOwner({
          name: "failing",
          secrets: [DEAD_SECRET, SOUND_SECRETS[0]!],
          accounts: 1,
        })
      : [];
    const charged = new Map<string, number>();
    const stage: Stage = {
      service,
      passThrough,
      admin,
      serviceFor: (count) => ({
        url: service.url,
        keys: sound.slice(0, count).map(({ key }) => key),
      }),
      yardstick: { url: passThrough.url, keys: ["sk-none"] },
      failing: {
        service: { url: service.url, keys: failing.map(({ key }) => key) },
        yardstick: { url: passThrough.url, keys: [DEAD_SECRET] },
      },
      async load(job) {
        const loaded = await runJob({ ...job, style });
        job.targets.forEach(({ keys }, target) => {
          keys.forEach((key, nth) => {
            charged.set(key, (charged.get(key) ?? 0) + loaded.answered[target]![nth]!);
          });
        });
        if (loaded.errors > 0)
          throw new WrongResult(`${loaded.errors} wrong answers, the first: ${loaded.firstError}`);
        return loaded;
      },
      facts: async () => (await fetch(`${upstream.url}/facts`)).json() as Promise<UpstreamFacts>,
    };
    if (keys === style) await checkSame(stage, style, deadKey, charged);
    const result = await measure(stage);
    for (const account of [...sound, ...failing])
      await checkLedger(admin, account, charged.get(account.key) ?? 0);
    return result;
  } finally {
    // The service first: it must not find its upstream gone.
    for (const one of running.reverse()) await one.stop();
    rmSync(directory, { recursive: true });
  }
}

const SOUND_SECRETS = ["sk-provider-first-0123456789", "sk-provider-second-0123456789"];
const DEAD_SECRET = `sk-provider-${DEAD}-0123456789`;
/** More failures in a row than any measure makes. */
const NEVER = "1000000";

const besides = (path: string): string => join(import.meta.dirname, path);

/** No job takes half as long: whoever is still waiting then waits for an answer that never comes. */
const JOB_MOST_MS = 120_000;

async function runJob(job: Job): Promise<Loaded> {
  const child = Bun.spawn([process.execPath, besides("load.ts"), JSON.stringify(job)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const tooLate = setTimeout(() => child.kill(), JOB_MOST_MS);
  const text = await new Response(child.stdout).text();
  clearTimeout(tooLate);
  if ((await child.exited) !== 0) throw new WrongResult("the load did not come to its end");
  return JSON.parse(text) as Loaded;
}

/** All targets send the same request upstream and the same answer back, byte for byte. */
async function checkSame(
  stage: Stage,
  style: StyleName,
  deadKey: boolean,
  charged: Map<string, number>,
): Promise<void> {
  const { path, headers } = STYLES[style];
  const others = deadKey ? Object.values(stage.failing) : [];
  for (const stream of [false, true]) {
    const body = bodyText(style, { stream });
    const seen: { asked: string; answered: string }[] = [];
    for (const target of [stage.yardstick, stage.serviceFor(1), ...others]) {
      const key = target.keys[0]!;
      const response = await fetch(target.url + path, {
        method: "POST",
        headers: { ...headers(key), "content-type": "application/json" },
        body,
      });
      const answered = await response.text();
      if (response.status !== 200) throw new WrongResult(`${response.status} ${answered}`);
      charged.set(key, (charged.get(key) ?? 0) + 1);
      seen.push({ asked: (await stage.facts()).lastBody, answered });
    }
    for (const { asked, answered } of seen) {
      if (asked !== seen[0]!.asked) throw new WrongResult(`unlike requests:\n${asked}\n${seen[0]!.asked}`);
      if (answered !== seen[0]!.answered)
        throw new WrongResult(`unlike answers:\n${answered}\n${seen[0]!.answered}`);
    }
  }
}

/** As many charges as answers, and the balance less by exactly their price. */
async function checkLedger(admin: Administration, account: BenchAccount, answered: number): Promise<void> {
  const { charges, spent, priceEach } = await admin.ledger(account);
  if (charges !== answered)
    throw new WrongResult(`${answered} answers, but ${charges} charges in the ledger`);
  if (answered > 0 && Math.abs(spent - answered * priceEach) > 1e-6)
    throw new WrongResult(`${answered} answers at ${priceEach}, but ${spent} is gone from the balance`);
}
