// Processes that tests start beside themselves. None outlives this process, however it ends: a guardian holds the other end
// of a pipe, and when that breaks it kills what it knows of, frozen ones too.

import type { Subprocess } from "bun";

export interface Child {
  readonly pid: number;
  readonly exited: Promise<number>;
  exitCode(): number | null;
  signal(signal: NodeJS.Signals): void;
  /** The end of its output, for the error of a failed start. */
  tail(): string;
}

export interface ChildOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Hears every line it says, on either of its outputs. */
  readonly onLine?: (line: string) => void;
}

/** Lines that are kept of what a child said. */
const TAIL_LINES = 60;

/** Reads "+ pid" and "- pid"; at the end of its input whatever is left of them dies. */
const GUARD = `
pids=" "
while read -r what pid; do
  case $what in
    +) pids="$pids$pid " ;;
    -) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -9 "$pid" 2>/dev/null; done`;

let guardian: Subprocess<"pipe", "ignore", "ignore"> | null = null;

function report(what: "+" | "-", pid: number): void {
  if (guardian === null) {
    // An interrupt from the keyboard is for this process; the guardian acts on its end.
    const spawned = Bun.spawn(["sh", "-c", `trap '' INT TERM HUP;${GUARD}`], {
      stdin: "pipe",
      stdout: "ignore",
      stderr: "ignore",
    });
    spawned.unref();
    guardian = spawned;
  }
  guardian.stdin.write(`${what} ${pid}\n`);
  guardian.stdin.flush();
}

/** It ends with this process at the latest. */
export function guarded<T extends Subprocess>(child: T): T {
  report("+", child.pid);
  void child.exited.then(() => report("-", child.pid));
  return child;
}

/** Starts a program that ends with this process at the latest. */
export function startChild(command: readonly string[], options: ChildOptions = {}): Child {
  const said: string[] = [];
  const child = guarded(
    Bun.spawn([...command], {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: { PATH: process.env.PATH!, ...options.env },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    }),
  );
  const readLine = (line: string) => {
    said.push(line);
    if (said.length > TAIL_LINES * 2) said.splice(0, TAIL_LINES);
    options.onLine?.(line);
  };
  const reading = Promise.all([child.stdout, child.stderr].map((stream) => eachLine(stream, readLine)));
  return {
    pid: child.pid,
    exited: reading.then(() => child.exited),
    exitCode: () => child.exitCode ?? (child.signalCode === null ? null : 128),
    signal: (signal) => child.kill(signal),
    tail: () => said.slice(-TAIL_LINES).join("\n"),
  };
}

async function eachLine(stream: ReadableStream<Uint8Array>, readLine: (line: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) readLine(line);
  }
  if (rest !== "") readLine(rest);
}
