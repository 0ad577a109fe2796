// Where the server's CPU time goes under load: by thread from the kernel's account, and inside the main thread from Bun's
// sampler (`--cpu-prof`), once by part of the program and once by place. What native code costs is told by who calls it.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sum } from "./figures.ts";
import { threadsMsOf } from "./process.ts";
import { type Cost, type CpuProfile, costs } from "./samples.ts";
import { onStage } from "./stage.ts";

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

const WARM_UP_MS = 6_000;
const MEASURED_MS = 8_000;
const PARTS_MOST = 30;
const PLACES_MOST = 60;

interface Spent {
  readonly requests: number;
  /** By thread name, µs a request. */
  readonly threadsUs: ReadonlyMap<string, number>;
}

export async function profile(name: ProfileKind): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-profile-"));
  try {
    const flags = ["--cpu-prof", `--cpu-prof-dir=${directory}`];
    const { style, keys, ...ask } = KINDS[name];
    const spent = await onStage({ flags, style, keys }, async (stage): Promise<Spent> => {
      const load = (ms: number) =>
        stage.load({
          targets: [stage.serviceFor(1)],
          ask,
          concurrency: 64,
          most: { ms },
          times: "none",
        });
      await load(WARM_UP_MS);
      const before = threadsMsOf(stage.service.pid);
      const requests = sum((await load(MEASURED_MS)).answered.flat());
      const after = threadsMsOf(stage.service.pid);
      const us = (thread: string, ms: number) => ((ms - (before.get(thread) ?? 0)) * 1000) / requests;
      return { requests, threadsUs: new Map([...after].map(([thread, ms]) => [thread, us(thread, ms)])) };
    });
    const file = readdirSync(directory).find((one) => one.endsWith(".cpuprofile"));
    if (file === undefined) throw new Error("Bun wrote no profile");
    tell(spent, JSON.parse(readFileSync(join(directory, file), "utf8")) as CpuProfile);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function tell({ requests, threadsUs }: Spent, profile: CpuProfile): void {
  const threads = [...threadsUs].filter(([, us]) => us >= 0.5).sort(([, a], [, b]) => b - a);
  const all = sum(threads.map(([, us]) => us));
  console.log(`${requests} requests, ${all.toFixed(0)} µs of CPU each, the sampler's own included\n`);
  for (const [name, us] of threads) console.log(line(us, us / all, name));
  const { byPart, byPlace, sampledMs } = costs(profile, MEASURED_MS);
  // The main thread bears the program's name, and is the first that the kernel lists.
  const mainUs = threadsUs.values().next().value ?? 0;
  const list = (rows: readonly Cost[], most: number) => {
    for (const { what, ms } of rows.slice(0, most)) {
      console.log(line((mainUs * ms) / sampledMs, ms / sampledMs, what));
    }
  };
  console.log("\nMain thread by part (the sampler sees what waits for the disk as if it ran):");
  list(byPart, PARTS_MOST);
  console.log("\nMain thread by place (native code under its caller):");
  list(byPlace, PLACES_MOST);
}

const line = (us: number, share: number, what: string): string =>
  `${us.toFixed(1).padStart(8)} µs ${(share * 100).toFixed(1).padStart(5)} %  ${what}`;
