// One node of a cluster as a process of its own, started as a user starts it, with a line of its own to the database and to
// NATS. What it logs is read as it comes: a line that no node should ever write is kept for the judge.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "../../children.ts";
import { type Call, callsTo, jsonOf, until } from "../harness.ts";
import { type Line, startLine } from "./line.ts";

const HOME = join(import.meta.dir, "../../..");
const BUN = join(HOME, "node_modules/.bin/bun");
/** A start on a machine with much else to do. */
const START_MS = 90_000;

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface NodeOptions {
  readonly name: string;
  /** Its spool lies in here. */
  readonly directory: string;
  readonly mongo: { readonly address: Address; url(address: Address): string };
  readonly nats: Address;
  readonly env: Record<string, string>;
  /** Its address became known, or another one. */
  readonly moved: (url: string) => Promise<void>;
}

export interface ClusterNode {
  readonly name: string;
  readonly database: Line;
  readonly nats: Line;
  /** Asks this node itself. */
  readonly call: Call;
  url(): string;
  /** Starts a process, and waits until it is ready. */
  start(env?: Record<string, string>): Promise<void>;
  /** Starts a process, and waits until it listens. */
  launch(env?: Record<string, string>): Promise<void>;
  isReady(): Promise<boolean>;
  signal(signal: NodeJS.Signals): void;
  /** Its exit code; waits until it ends. */
  exited(): Promise<number>;
  isRunning(): boolean;
  /** Its process listens and is not stopped: a client who knows it would ask it. */
  isReachable(): boolean;
  /** Root's key, when a process of this node has shown it. */
  shownKeys(): readonly string[];
  /** Lines of its log that tell of a bug, of all its processes. */
  alarms(): readonly string[];
  /** How often it logged this event. */
  logged(event: string): number;
  tail(): string;
  close(): Promise<void>;
}

/** Events that no fault from outside explains. */
const ALARMS = new Set(["request_failed", "uncaught", "unhandled_rejection"]);

export async function createNode(options: NodeOptions): Promise<ClusterNode> {
  const { name, directory, mongo } = options;
  const database = await startLine(() => mongo.address);
  const nats = await startLine(() => options.nats);
  const spool = join(directory, `spool-${name}`);
  mkdirSync(spool, { recursive: true });
  const keys: string[] = [];
  const alarms: string[] = [];
  const events = new Map<string, number>();
  let url = "";
  let child: Child | null = null;
  let isReachable = false;

  function readLine(line: string): void {
    const shown = /Root's API key, shown only now: (\S+)/.exec(line)?.[1];
    if (shown !== undefined) keys.push(shown);
    const parsed = line.startsWith("{") ? jsonOf(line) : undefined;
    const event = parsed?.event ?? parsed?.msg;
    if (event !== undefined) events.set(event, (events.get(event) ?? 0) + 1);
    const isBroken = parsed === undefined && /^\s+at .+:\d+|^error: |^panic/.test(line);
    if (isBroken || parsed?.level === "fatal" || parsed?.level === 60 || ALARMS.has(event))
      alarms.push(`${name}: ${line}`);
  }

  const node: ClusterNode = {
    ...callsTo(() => url),
    name,
    database,
    nats,
    url: () => url,
    async launch(env = {}) {
      let announcedUrl = "";
      isReachable = false;
      const started = startChild([BUN, "src/main.ts", "serve"], {
        cwd: HOME,
        env: {
          BUN_CONFIG_MAX_HTTP_REQUESTS: "65000",
          BUN_JSC_useFTLJIT: "0",
          PORT: "0",
          NODE_NAME: name,
          STORE_URL: mongo.url({ host: "127.0.0.1", port: database.port }),
          NATS_URL: `nats://127.0.0.1:${nats.port}`,
          SPOOL_DIR: spool,
          PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
          LOG_FORMAT: "json",
          ...options.env,
          ...env,
        },
        onLine(line) {
          announcedUrl ||= /serves on (\S+)/.exec(line)?.[1] ?? "";
          readLine(line);
        },
      });
      child = started;
      await until(
        `node ${name} listens`,
        () => {
          if (started.exitCode() !== null) throw new Error(`node ${name} ended:\n${started.tail()}`);
          return announcedUrl !== "";
        },
        START_MS,
      );
      url = announcedUrl;
      isReachable = true;
      await options.moved(url);
    },
    async start(env) {
      await node.launch(env);
      await until(`node ${name} is ready`, node.isReady, START_MS);
    },
    isReady: () =>
      fetch(`${url}/readyz`, { signal: AbortSignal.timeout(10_000) }).then(
        (answer) => answer.ok,
        () => false,
      ),
    signal(signal) {
      isReachable = signal === "SIGCONT";
      child?.signal(signal);
    },
    exited: async () => (await child?.exited) ?? 0,
    isRunning: () => child !== null && child.exitCode() === null,
    isReachable: () => isReachable,
    shownKeys: () => keys,
    alarms: () => alarms,
    logged: (event) => events.get(event) ?? 0,
    tail: () => `--- ${name} (${url})\n${child?.tail() ?? "never started"}`,
    async close() {
      if (node.isRunning()) child?.signal("SIGKILL");
      await child?.exited;
      database.close();
      nats.close();
    },
  };
  return node;
}
