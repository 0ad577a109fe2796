// One machine's processes on shared ports, started as a user starts them with PROCESSES: a parent and its nodes, on a NATS
// server and a database of the test's own. What the parent and the nodes log is read as it comes. Nothing here asserts.

import { join } from "node:path";
import { type Verified, verify } from "../../src/report/verify/verify.ts";
import { openAudit } from "../../src/store/open.ts";
import { type Child, startChild } from "../children.ts";
import { clusterGround, type Ground, ROOT_KEY } from "../node/nodes.ts";
import { type Provider, startProvider } from "../provider/provider.ts";
import { accountFactory, type Bench, callsTo, type Json, jsonOf, until } from "./harness.ts";

const HOME = join(import.meta.dir, "../..");
/** A start on a machine with much else to do; after a crash it waits for its former self, too. */
const START_MS = 90_000;

/** Calls go to the shared address of administration. */
export interface Processes extends Pick<Bench, "call" | "ledger" | "owner" | "subaccount"> {
  readonly ground: Ground;
  readonly provider: Provider;
  /** Starts them, and waits until all serve. */
  start(env?: Record<string, string>): Promise<void>;
  /** Starts another parent beside the one that runs, and waits for nothing. */
  launch(env?: Record<string, string>): Child;
  parent(): Child;
  /** The shared address of the service. */
  url(): string;
  /** The addresses at which each answers for itself, in order. */
  ownUrls(): readonly string[];
  /** The process ids of those that run now, in order. */
  pids(): readonly number[];
  /** Lines of the log with this event, of all processes so far. */
  logged(event: string): readonly Json[];
  /** Waits until so many starts were followed by a process that serves. */
  served(times: number): Promise<void>;
  verified(): Promise<Verified>;
  close(): Promise<void>;
}

/** Returns null where a server is missing and `what` is skipped. */
export async function sharedPorts(what: string): Promise<Processes | null> {
  const ground = await clusterGround(what);
  if (ground === null) return null;
  const provider = startProvider();
  const lines: Json[] = [];
  let parent: Child | null = null;
  let url = "";
  let adminUrl = "";
  const calls = callsTo(() => adminUrl);
  const of = (event: string) => lines.filter(({ msg }) => msg === event);
  const last = (event: string, count: number, field: (line: Json) => number) =>
    Array.from({ length: count }, (_, i) => of(event).findLast((line) => field(line) === i + 1));

  const processes: Processes = {
    ...calls,
    ...accountFactory(calls.call, ROOT_KEY, provider.url),
    ground,
    provider,
    launch(env = {}) {
      // A stream that a busy machine slows down still comes to its end.
      const patient = { DRAIN_MS: "60000" };
      const set = {
        ...{ LOG_LEVEL: "info", LOG_FORMAT: "json", ADMIN_PORT: "0", PROCESSES: "2", ...patient },
        ...env,
      };
      return startChild([process.execPath, join(HOME, "src/main.ts"), "serve"], {
        cwd: HOME,
        env: ground.env("gw", set),
        onLine(line) {
          url = /^arborgate serves on (\S+)/.exec(line)?.[1] ?? url;
          adminUrl = /^administration on (\S+)/.exec(line)?.[1] ?? adminUrl;
          const parsed = line.startsWith("{") ? jsonOf(line) : undefined;
          if (parsed !== undefined) lines.push(parsed);
        },
      });
    },
    async start(env) {
      const before = of("process_serves").length;
      const child = processes.launch(env);
      parent = child;
      await until(
        "all processes serve",
        () => {
          if (child.exitCode() !== null) throw new Error(`the parent ended:\n${child.tail()}`);
          return of("process_serves").length >= before + Number(env?.PROCESSES ?? 2);
        },
        START_MS,
      );
    },
    parent: () => parent!,
    url: () => url,
    ownUrls: () =>
      last("listens", 2, ({ node }) => Number(node.split("-").at(-1))).map(({ at }) =>
        at.length === 3 ? at[1] : at[0],
      ),
    pids: () => last("process_starts", 2, (line) => line.process).map(({ pid }) => pid),
    logged: of,
    served: (times) => until("it serves again", () => of("process_serves").length >= times, START_MS),
    async verified() {
      const audit = await openAudit(ground.storeUrl);
      try {
        return await verify(audit);
      } finally {
        await audit.close();
      }
    },
    async close() {
      if (parent !== null && parent.exitCode() === null) {
        parent.signal("SIGTERM");
        await parent.exited;
      }
      provider.close();
      await ground.close();
    },
  };
  return processes;
}

/** Whether a process of this id runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
