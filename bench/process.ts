// A process of the benchmark: started, waited for, measured through /proc, stopped. What it used is read from the kernel's
// own account of it, threads and children included, and never asked of the process itself.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";

export interface Process {
  readonly pid: number;
  /** What the line that was waited for ended in: the address it serves on. */
  readonly url: string;
  /** User and system time of all its threads and children since its start. */
  cpuMs(): number;
  rssBytes(): number;
  /** The most that was resident since the start, or since `forgetPeak`. */
  peakBytes(): number;
  forgetPeak(): void;
  stop(): Promise<void>;
}

/** The kernel counts in hundredths of a second on every Linux that Bun runs on. */
const TICK_MS = 10;
/** What the kernel takes as the word for it. */
const FORGET_PEAK = "5";
const START_MOST_MS = 20_000;

/** Starts `bun ARGS` and waits for its first line that ends in an address. What it logs is shown, or goes to `logFile`. */
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
  const tooLate = setTimeout(() => child.kill(), START_MOST_MS);
  const url = await addressIn(child.stdout);
  clearTimeout(tooLate);
  if (url === null) {
    const logged = logFile === null ? "" : `:\n${readFileSync(logFile, "utf8")}`;
    throw new Error(`bun ${args.join(" ")} ended before it served${logged}`);
  }
  return {
    pid: child.pid,
    url,
    cpuMs: () => cpuMsOf(child.pid),
    rssBytes: () => memoryOf(child.pid, "VmRSS"),
    peakBytes: () => memoryOf(child.pid, "VmHWM"),
    forgetPeak: () => writeFileSync(`/proc/${child.pid}/clear_refs`, FORGET_PEAK),
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

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

/** A pipe that nobody reads would stop its writer. */
async function drain(reader: { read(): Promise<{ done: boolean }> }): Promise<void> {
  while (!(await reader.read()).done);
}

function cpuMsOf(pid: number): number {
  const fields = statOf(pid);
  // utime, stime, and the same of children that have ended: fields 14 to 17 of stat.
  const own = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0) * TICK_MS;
  return childrenOf(pid).reduce((sum, child) => sum + cpuMsOf(child), own);
}

/** The fields behind the command's name, which may itself hold spaces. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );

/** User and system time of the programs that this process itself has started and that run now, by program. */
export function ownProgramsMs(): Map<string, number> {
  const spent = new Map<string, number>();
  for (const pid of childrenOf(process.pid)) {
    const name = nameOf(pid);
    spent.set(name, (spent.get(name) ?? 0) + cpuMsOf(pid));
  }
  return spent;
}

const nameOf = (pid: number): string => readFileSync(`/proc/${pid}/comm`, "utf8").trim();

function memoryOf(pid: number, what: "VmRSS" | "VmHWM"): number {
  const kb = new RegExp(`^${what}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (kb === null) throw new Error(`no ${what} of process ${pid}`);
  return Number(kb[1]) * 1024;
}

/** CPU time of each kind of thread of a process, by the name that the runtime gave it. */
export function threadsMsOf(pid: number): Map<string, number> {
  const spent = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
    const name = text.slice(text.indexOf("(") + 1, text.lastIndexOf(")"));
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const ms = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    spent.set(name, (spent.get(name) ?? 0) + ms);
  }
  return spent;
}
