// Where the server's CPU time goes under load: by thread from the kernel's account, and inside the main thread from Bun's
// sampler (`--cpu-prof`), once by part of the program and once by place. The cost of native code is listed under its caller.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sum } from "./figures.ts";
import type { Loaded } from "./load.ts";
import { type Process, threadsMsOf } from "./process.ts";
import { type Cost, type CpuProfile, costs } from "./samples.ts";
import { onStage } from "./stage.ts";
import { type WarmUpTimes, warmUp } from "./warm-up.ts";

const CHAT = { style: "chat", keys: "chat" } as const;
const MESSAGES = { style: "messages", keys: "messages" } as const;
const KINDS = {
  whole: { ...CHAT, stream: false, word: "" },
  stream: { ...CHAT, stream: true, word: "" },
  apart: { ...CHAT, stream: true, word: "bench-apart" },
  "messages-whole": { ...MESSAGES, stream: false, word: "" },
  "messages-stream": { ...MESSAGES, stream: true, word: "" },
  "messages-apart": { ...MESSAGES, stream: true, word: "bench-apart" },
  "to-messages": { ...CHAT, keys: "messages", stream: true, word: "" },
  "to-chat": { ...MESSAGES, keys: "chat", stream: true, word: "" },
} as const;

export type ProfileKind = keyof typeof KINDS;

export const PROFILE_KINDS = Object.keys(KINDS) as ProfileKind[];

export const isProfileKind = (name: string): name is ProfileKind => Object.hasOwn(KINDS, name);

const WARM_UP: WarmUpTimes = { warmUpMs: 5_000, warmUpMsMax: 60_000 };
const MEASURED_MS = 8_000;
const PARTS_MAX = 30;
const PLACES_MAX = 60;

export interface Spent {
  readonly requests: number;
  /** When, wall ms. */
  readonly fromMs: number;
  readonly toMs: number;
  /** By thread name, µs a request. */
  readonly threadsUs: ReadonlyMap<string, number>;
}

export const askedIn = (name: ProfileKind) => KINDS[name];

/** Flags of Bun for a process that is watched: its profile is in the directory once it has ended. */
export const watching = (directory: string): string[] => ["--cpu-prof", `--cpu-prof-dir=${directory}`];

/** Loads servers, first to warm them up, and reads what their threads spent on a request, all together. */
export async function watch(
  servers: readonly Process[],
  load: (ms: number) => Promise<Loaded>,
): Promise<Spent> {
  const spentUs = new Map<string, number>();
  const add = (times: 1000 | -1000) => {
    for (const [thread, ms] of servers.flatMap(({ pid }) => [...threadsMsOf(pid)])) {
      spentUs.set(thread, (spentUs.get(thread) ?? 0) + ms * times);
    }
  };
  await warmUp(servers, WARM_UP, load);
  add(-1000);
  const fromMs = Date.now();
  const requests = sum((await load(MEASURED_MS)).answered.flat());
  add(1000);
  const threadsUs = new Map([...spentUs].map(([thread, us]) => [thread, us / requests]));
  return { requests, fromMs, toMs: Date.now(), threadsUs };
}

export async function profile(name: ProfileKind): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-profile-"));
  try {
    const { style, keys, ...ask } = KINDS[name];
    const spent = await onStage({ flags: watching(directory), style, keys }, (stage) =>
      watch([stage.service], (ms) =>
        stage.load({
          targets: [stage.serviceFor(1)],
          ask,
          concurrency: 64,
          most: { ms },
          times: "none",
        }),
      ),
    );
    printProfile(spent, directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Prints the lists. Of several servers the parts and places are those of the one whose profile is in the directory. */
export function printProfile({ requests, fromMs, toMs, threadsUs }: Spent, directory: string): void {
  const file = readdirSync(directory).find((one) => one.endsWith(".cpuprofile"));
  if (file === undefined) throw new Error("Bun wrote no profile");
  const profile = JSON.parse(readFileSync(join(directory, file), "utf8")) as CpuProfile;
  const threads = [...threadsUs].filter(([, us]) => us >= 0.5).sort(([, a], [, b]) => b - a);
  const all = sum(threads.map(([, us]) => us));
  console.log(`${requests} requests, ${all.toFixed(0)} µs of CPU each, the sampler's own included\n`);
  for (const [name, us] of threads) console.log(line(us, us / all, name));
  const { byPart, byPlace, sampledMs } = costs(profile, fromMs, toMs);
  // The main thread bears the program's name, and is the first that the kernel lists.
  const mainUs = threadsUs.values().next().value ?? 0;
  const list = (rows: readonly Cost[], most: number) => {
    for (const { what, ms } of rows.slice(0, most)) {
      console.log(line((mainUs * ms) / sampledMs, ms / sampledMs, what));
    }
  };
  console.log("\nMain thread by part (the sampler sees what waits for the disk as if it ran):");
  list(byPart, PARTS_MAX);
  console.log("\nMain thread by place (native code under its caller):");
  list(byPlace, PLACES_MAX);
}

const line = (us: number, share: number, what: string): string =>
  `${us.toFixed(1).padStart(8)} µs ${(share * 100).toFixed(1).padStart(5)} %  ${what}`;
