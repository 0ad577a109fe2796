// A process of the benchmark: started, waited for, measured through /proc, stopped. What it used is read from the kernel's
// account of it, threads and children included, and never asked of the process itself. No process outlives the benchmark.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Subprocess } from "bun";
import { sum } from "./figures.ts";

export interface Process {
  readonly pid: number;
  /** The address it serves on. */
  readonly url: string;
  /** User and system time of all its threads and children since its start. */
  cpuMs(): number;
  /** Resident memory of it and of its children. */
  rssBytes(): number;
  /** The most that was resident since the start, or since `forgetPeak`, without its children. */
  peakBytes(): number;
  forgetPeak(): void;
  stop(): Promise<void>;
}

/** The kernel counts in hundredths of a second on every Linux that Bun runs on. */
const TICK_MS = 10;
/** What the kernel reads as the order to forget it. */
const FORGET_PEAK = "5";
const START_MS_MAX = 20_000;
/** How long a process has to end before it is killed. */
const STOP_MS_MAX = 60_000;

const running = new Set<Subprocess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGTERM");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

/** Starts `bun ARGS` and waits for its first line that ends in an address. Its log is shown, or goes to `logFile`. */
export async function start(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  logFile: string | null = null,
): Promise<Process> {
  const child = Bun.spawn([process.execPath, ...args], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65000", ...env },
    stdout: "pipe",
    stderr: logFile === null ? "inherit" : Bun.file(logFile),
  });
  running.add(child);
  const tooLate = setTimeout(() => child.kill(), START_MS_MAX);
  const url = await addressIn(child.stdout);
  clearTimeout(tooLate);
  if (url === null) {
    running.delete(child);
    const logged = logFile === null ? "" : `:\n${readFileSync(logFile, "utf8")}`;
    throw new Error(`bun ${args.join(" ")} ended before it served${logged}`);
  }
  return processOf(child, url);
}

export interface ProgramOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Where it runs. */
  readonly directory: string;
  readonly logFile: string;
  /** Answers a GET with success once the program is ready. */
  readonly readyUrl: string;
}

/** Starts another program than Bun and waits until it is ready. */
export async function startProgram(command: readonly string[], options: ProgramOptions): Promise<Process> {
  const { env, directory, logFile, readyUrl } = options;
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...env },
    cwd: directory,
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(logFile),
  });
  running.add(child);
  const started = processOf(child, new URL(readyUrl).origin);
  const untilMs = performance.now() + PROGRAM_START_MS_MAX;
  while (!(await isReady(readyUrl))) {
    if (child.exitCode === null && performance.now() < untilMs) {
      await Bun.sleep(READY_POLL_MS);
      continue;
    }
    await started.stop();
    throw new Error(`${command[0]} did not start:\n${readFileSync(logFile, "utf8").slice(-2_000)}`);
  }
  return started;
}

/** A large program that is started for the first time compiles all of its files. */
const PROGRAM_START_MS_MAX = 120_000;
const READY_POLL_MS = 100;

const isReady = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

const processOf = (child: Subprocess, url: string): Process => ({
  pid: child.pid,
  url,
  cpuMs: () => cpuMsOf(child.pid),
  rssBytes: () => memoryOf(child.pid, "VmRSS") + sum(descendantsOf(child.pid).map(rssOfDescendant)),
  peakBytes: () => memoryOf(child.pid, "VmHWM"),
  forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, FORGET_PEAK),
  async stop() {
    child.kill("SIGTERM");
    const tooLate = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    await child.exited;
    clearTimeout(tooLate);
    running.delete(child);
  },
});

async function addressIn(output: ReadableStream<Uint8Array>): Promise<string | null> {
  const reader = output.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return null;
    text += decoder.decode(value, { stream: true });
    const found = /(http:\/\/\S+)\n/.exec(text);
    if (found === null) continue;
    void drain(reader);
    return found[1]!;
  }
}

/** A full pipe would stop its writer. */
async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}

/** User and system time of this process, and of all that it has started. */
export const ownCpuMs = (): number => cpuMsOf(process.pid);

function cpuMsOf(pid: number): number {
  const fields = statOf(pid);
  // utime, stime, and the same of children that have ended: fields 14 to 17 of stat.
  const ownMs = sum([11, 12, 13, 14].map((field) => Number(fields[field]))) * TICK_MS;
  return ownMs + sum(childrenOf(pid).map((child) => unlessEnded(() => cpuMsOf(child), 0)));
}

/** The fields behind the command's name, which may itself hold spaces. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

const descendantsOf = (pid: number): number[] =>
  childrenOf(pid).flatMap((child) => [child, ...unlessEnded(() => descendantsOf(child), [])]);

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    textUnlessEnded(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  );

/** What was read of a thread or of a child, either of which may end between being listed and being read. */
function unlessEnded<T>(read: () => T, ended: T): T {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return ended;
    throw error;
  }
}

const textUnlessEnded = (path: string): string => unlessEnded(() => readFileSync(path, "utf8"), "");

/** User and system time of the programs that this process has started and that still run, by program. */
export function ownProgramsMs(): Map<string, number> {
  const spent = new Map<string, number>();
  for (const pid of childrenOf(process.pid)) {
    const [name, ms] = unlessEnded(() => [nameOf(pid), cpuMsOf(pid)] as const, ["", 0]);
    spent.set(name, (spent.get(name) ?? 0) + ms);
  }
  return spent;
}

const nameOf = (pid: number): string => readFileSync(`/proc/${pid}/comm`, "utf8").trim();

function memoryOf(pid: number, what: "VmRSS" | "VmHWM"): number {
  const bytes = bytesIn(readFileSync(`/proc/${pid}/status`, "utf8"), what);
  if (bytes === null) throw new Error(`no ${what} of process ${pid}`);
  return bytes;
}

/** A child that has ended has no memory, from its end on and until its parent has read how it ended. */
const rssOfDescendant = (pid: number): number =>
  bytesIn(textUnlessEnded(`/proc/${pid}/status`), "VmRSS") ?? 0;

function bytesIn(status: string, what: "VmRSS" | "VmHWM"): number | null {
  const kb = new RegExp(`^${what}:\\s+(\\d+) kB$`, "m").exec(status);
  return kb === null ? null : Number(kb[1]) * 1024;
}

/** CPU time of each kind of thread of a process, by the name that the runtime gave it. */
export function threadsMsOf(pid: number): Map<string, number> {
  const spent = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = textUnlessEnded(`/proc/${pid}/task/${thread}/stat`);
    if (text === "") continue;
    const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ms = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    spent.set(name, (spent.get(name) ?? 0) + ms);
  }
  return spent;
}
