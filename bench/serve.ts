// Starts the processes that every measure needs: the service as it ships, on a free port of loopback and on a store that
// its caller names, and the upstream. It owns no directory and stops nothing.

import { join } from "node:path";
import { type Process, start } from "./process.ts";
import type { UpstreamFacts } from "./upstream.ts";

export interface ServeOptions {
  readonly storeUrl: string;
  readonly spoolDir: string;
  readonly rootKey: string;
  /** 32 bytes in base64; the same in all processes on one store. */
  readonly secretsKey: string;
  /** Further settings. */
  readonly env?: Readonly<Record<string, string>>;
  /** Flags of Bun. */
  readonly flags?: readonly string[];
  /** The file of its log. The log is shown when this is null or omitted. */
  readonly logFile?: string | null;
}

/** Resolves when it serves. */
export const serve = (options: ServeOptions): Promise<Process> =>
  start(
    [...(options.flags ?? []), besides("../src/main.ts"), "serve"],
    {
      HOST: "127.0.0.1",
      PORT: "0",
      STORE_URL: options.storeUrl,
      SPOOL_DIR: options.spoolDir,
      ROOT_KEY: options.rootKey,
      SECRETS_KEY: options.secretsKey,
      PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
      LOG_LEVEL: "warn",
      ...options.env,
    },
    options.logFile,
  );

export const startUpstream = (): Promise<Process> => start([besides("upstream.ts")]);

/** What has come to the upstream by now. */
export const factsOf = async (upstream: Process): Promise<UpstreamFacts> =>
  (await fetch(`${upstream.url}/facts`)).json() as Promise<UpstreamFacts>;

const besides = (path: string): string => join(import.meta.dirname, path);
