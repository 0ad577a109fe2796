// The service as a process of its own, started as a user starts it, on data that outlives it: for killing, restarting and
// draining it. The stand-in provider stays in the test's process and lives on.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { accountFactory, type Bench, callsTo, until } from "./harness.ts";

const HOME = join(import.meta.dir, "../..");
const BUN = join(HOME, "node_modules/.bin/bun");

export interface Ended {
  readonly code: number | null;
  readonly signal: string | number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProcessBench extends Pick<Bench, "call" | "chat" | "ledger" | "balance" | "nothingHeld"> {
  readonly directory: string;
  readonly database: string;
  /** Address of the process that runs now. */
  url(): string;
  rootKey(): string;
  accountFactory(providerUrl: string): Pick<Bench, "owner" | "subaccount">;
  /** Starts a process on the data, and waits until it is ready. */
  start(env?: Record<string, string>): Promise<void>;
  /** Ends it with a signal, and returns how it ended. */
  end(signal: "SIGKILL" | "SIGTERM" | "SIGINT"): Promise<Ended>;
  /** Sends a signal and goes on. */
  signal(signal: "SIGTERM"): void;
  ended(): Promise<Ended>;
  /** Another process beside the running one, until it ends by itself. */
  beside(env?: Record<string, string>): Promise<Ended>;
  output(): string;
  close(): Promise<void>;
}

export function processBench(): ProcessBench {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-process-"));
  const database = join(directory, "live.db");
  let running: ReturnType<typeof launch> | null = null;
  let url = "";
  let rootKey = "";

  function launch(env: Record<string, string>) {
    const child = Bun.spawn([BUN, "src/main.ts", "serve"], {
      cwd: HOME,
      env: {
        PATH: process.env.PATH!,
        BUN_CONFIG_MAX_HTTP_REQUESTS: "65000",
        PORT: "0",
        STORE_URL: `sqlite:${database}`,
        SPOOL_DIR: join(directory, "spool"),
        PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
        ...env,
      },
      stdout: "pipe",
      stderr: "pipe",
    });
    const text = { out: "", err: "" };
    const reading = Promise.all([gather(child.stdout, "out"), gather(child.stderr, "err")]);
    async function gather(stream: ReadableStream<Uint8Array>, into: "out" | "err"): Promise<void> {
      const decoder = new TextDecoder();
      for await (const chunk of stream) text[into] += decoder.decode(chunk, { stream: true });
    }
    const ended = async (): Promise<Ended> => {
      await Promise.all([child.exited, reading]);
      return { code: child.exitCode, signal: child.signalCode, stdout: text.out, stderr: text.err };
    };
    return { child, text, ended };
  }

  const bench: ProcessBench = {
    ...callsTo(() => url),
    directory,
    database,
    url: () => url,
    rootKey: () => rootKey,
    accountFactory: (providerUrl) => accountFactory(bench.call, rootKey, providerUrl),
    async start(env = {}) {
      const one = launch(env);
      running = one;
      await until(
        "the process serves",
        () => {
          if (one.child.exitCode !== null) throw new Error(`the process ended: ${one.text.err}`);
          return /data in/.test(one.text.out);
        },
        15_000,
      );
      url = /serves on (\S+)/.exec(one.text.out)![1]!;
      rootKey = /Root's API key, shown only now: (\S+)/.exec(one.text.out)?.[1] ?? rootKey;
      await until("it is ready", async () => (await fetch(`${url}/readyz`)).ok);
    },
    async end(signal) {
      running!.child.kill(signal);
      return bench.ended();
    },
    signal: (signal) => running!.child.kill(signal),
    ended: () => running!.ended(),
    beside: (env = {}) => launch(env).ended(),
    output: () => running!.text.out + running!.text.err,
    async close() {
      if (running !== null && running.child.exitCode === null) await bench.end("SIGKILL");
      rmSync(directory, { recursive: true });
    },
  };
  return bench;
}
