// What a measure runs on: the upstream, the service on a store of its own, the pass-through, and the load between them. It
// verifies that both answer alike before the measure, and that the ledgers agree with the answers after it.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Administration, administration } from "./accounts.ts";
import { type Books, openBooks } from "./books.ts";
import type { Target } from "./load.ts";
import { type Process, start } from "./process.ts";
import { factsOf, serve, startUpstream } from "./serve.ts";
import { DEAD, STYLES, type StyleName } from "./styles.ts";
import type { UpstreamFacts } from "./upstream.ts";

export interface Stage {
  readonly upstream: Process;
  readonly service: Process;
  readonly passThrough: Process;
  readonly admin: Administration;
  /** The service, asked with the first `accounts` accounts in turn. */
  serviceFor(accounts: number): Target;
  readonly passThroughTarget: Target;
  /** Both with a dead key before a working one. Without keys unless `deadKey` is set. */
  readonly failing: { readonly service: Target; readonly passThrough: Target };
  readonly load: Books["load"];
  /** Makes a named API key with these fields for one of the accounts, and answers a target that asks with it. */
  withApiKey(nth: number, fields: object): Promise<Target>;
  facts(): Promise<UpstreamFacts>;
}

export interface StageOptions {
  /** The client's style; chat when it is omitted. */
  readonly style?: StyleName;
  /** The style of the provider keys; the client's when it is omitted. With another one everything is translated. */
  readonly keys?: StyleName;
  readonly accounts?: number;
  /** How many Owners the accounts stand below, as many below each; one when it is omitted. */
  readonly owners?: number;
  /** Settings of the service. */
  readonly env?: Readonly<Record<string, string>>;
  /** Adds an Owner whose first key always fails and never sleeps. The service's log is then not shown. */
  readonly deadKey?: boolean;
  /** Flags of Bun for the service's process. */
  readonly flags?: readonly string[];
}

export async function onStage<T>(options: StageOptions, measure: (stage: Stage) => Promise<T>): Promise<T> {
  const { style = "chat", keys = style, deadKey = false } = options;
  const directory = mkdtempSync(join(tmpdir(), "arborgate-bench-"));
  const rootKey = `sk-${randomBytes(24).toString("hex")}`;
  const running: Process[] = [];
  const run = async (starting: Promise<Process>) => {
    const started = await starting;
    running.push(started);
    return started;
  };
  try {
    const upstream = await run(startUpstream());
    const { path, headers } = STYLES[style];
    const passThrough = await run(
      start([join(import.meta.dirname, "pass-through.ts"), upstream.url + path, ...Object.keys(headers(""))]),
    );
    const service = await run(
      serve({
        storeUrl: `sqlite:${join(directory, "bench.db")}`,
        spoolDir: join(directory, "spool"),
        rootKey,
        secretsKey: randomBytes(32).toString("base64"),
        flags: options.flags ?? [],
        env: { ...(deadKey && { KEY_FAILURES: NEVER }), ...options.env },
        logFile: deadKey ? join(directory, "service.log") : null,
      }),
    );
    const admin = administration({
      serviceUrl: service.url,
      upstreamUrl: upstream.url,
      rootKey,
      style: keys,
    });
    const { accounts = 1, owners = 1 } = options;
    const below = await Promise.all(
      Array.from({ length: owners }, (_, nth) =>
        admin.createOwner({ name: `sound-${nth}`, secrets: SOUND_SECRETS, accounts: accounts / owners }),
      ),
    );
    const sound = below.flat();
    const failing = deadKey
      ? await admin.createOwner({
          name: "failing",
          secrets: [DEAD_SECRET, SOUND_SECRETS[0]!],
          accounts: 1,
          // In turn, the dead key comes first each time.
          configuration: { LEVEL_AFFINITY: "off" },
        })
      : [];
    const books = openBooks(style);
    const stage: Stage = {
      upstream,
      service,
      passThrough,
      admin,
      serviceFor: (count) => ({
        url: service.url,
        keys: sound.slice(0, count).map(({ key }) => key),
      }),
      passThroughTarget: { url: passThrough.url, keys: ["sk-none"] },
      failing: {
        service: { url: service.url, keys: failing.map(({ key }) => key) },
        passThrough: { url: passThrough.url, keys: [DEAD_SECRET] },
      },
      load: books.load,
      async withApiKey(nth, fields) {
        const { key } = sound[nth]!;
        const secret = await admin.createApiKey(key, fields);
        books.countFor(secret, key);
        return { url: service.url, keys: [secret] };
      },
      facts: () => factsOf(upstream),
    };
    const others = deadKey ? Object.values(stage.failing) : [];
    if (keys === style)
      await books.checkSame([stage.passThroughTarget, stage.serviceFor(1), ...others], stage.facts);
    const result = await measure(stage);
    await books.checkLedgers(admin, [...sound, ...failing]);
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
