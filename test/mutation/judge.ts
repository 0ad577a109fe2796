// Runs the tests against one mutation after another, in a copy of the tree of its own: other work goes on beside it. A test
// that fails finds the mutation, unless its file passes when it runs alone: then the machine was slow, and all run again.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { guarded } from "../children.ts";
import type { Candidate } from "./kinds.ts";
import { mutated } from "./sources.ts";

/** unsound: its tests hang or fail by themselves, again and again, so they say nothing. */
export type Verdict = "found" | "survived" | "timeout" | "unsound";

export interface Judge {
  judge(candidate: Candidate, tests: readonly string[]): Promise<Verdict>;
  close(): void;
}

const LINKED = ["node_modules", ".cache"];
/** How often the time of the tests without a mutation, which may have to fetch a server first, is waited for. */
const SOUND_MS_FACTOR = 3;

/** `root` is copied as it stands, with what is not committed. */
export function createJudge(root: string, limitMs: number): Judge {
  const copy = mkdtempSync(join(tmpdir(), "arborgate-mutation-"));
  for (const path of filesOf(root)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path), { preserveTimestamps: true });
  }
  for (const path of LINKED)
    if (existsSync(join(root, path))) symlinkSync(join(root, path), join(copy, path));
  const known = new Map<string, Suite | null>();

  /** The tests that pass without a mutation; null: they do not come to a good end. */
  async function suiteOf(tests: readonly string[]): Promise<Suite | null> {
    const key = tests.join(" ");
    const suite = known.has(key) ? known.get(key)! : await passing(copy, tests, limitMs * SOUND_MS_FACTOR);
    known.set(key, suite);
    return suite;
  }

  return {
    async judge(candidate, tests) {
      const suite = await suiteOf(tests);
      if (suite === null) return "unsound";
      const path = join(copy, candidate.file);
      const text = readFileSync(path, "utf8");
      const changed = mutated(text, candidate);
      if (changed === null)
        throw new Error(`${candidate.file}:${candidate.line}: the mutation does not parse`);
      writeFileSync(path, changed);
      try {
        return await verdictOf(copy, suite, limitMs);
      } finally {
        writeFileSync(path, text);
      }
    },
    close: () => rmSync(copy, { recursive: true, force: true }),
  };
}

/** What git knows or would add. */
function filesOf(root: string): string[] {
  const list = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
  });
  const paths = list.stdout.toString().split("\0");
  return paths.filter((path) => path !== "" && !LINKED.includes(path) && existsSync(join(root, path)));
}

/** How often all tests run when what failed among them passes alone. */
const TRIES_MAX = 3;

/** Tests, but for those that fail without a mutation: on a busy machine, say, where they judge time. */
interface Suite {
  readonly tests: readonly string[];
  readonly without: readonly string[];
}

async function passing(copy: string, tests: readonly string[], limitMs: number): Promise<Suite | null> {
  let without: readonly string[] = [];
  for (let tried = 1; tried <= TRIES_MAX; tried++) {
    const { verdict, failed } = await run(copy, { tests, without }, limitMs);
    if (verdict === "survived") return { tests, without };
    if (verdict === "timeout" || failed.length === 0) return null;
    without = [...without, ...failed.map(({ name }) => name)];
    for (const { name } of failed) console.log(`left out, since it fails without a mutation: ${name}`);
  }
  return null;
}

async function verdictOf(copy: string, suite: Suite, limitMs: number): Promise<Verdict> {
  for (let tried = 1; tried <= TRIES_MAX; tried++) {
    const { verdict, failed } = await run(copy, suite, limitMs, "--bail");
    if (verdict !== "found" || failed.length === 0) return verdict;
    const alone = await run(copy, { ...suite, tests: [`./${failed[0]!.file}`] }, limitMs, "--bail");
    if (alone.verdict !== "survived") return alone.verdict;
  }
  return "unsound";
}

interface Failed {
  readonly file: string;
  /** Its groups and its own, as the runner prints them. */
  readonly name: string;
}

interface Run {
  readonly verdict: Verdict;
  readonly failed: readonly Failed[];
}

async function run(
  copy: string,
  { tests, without }: Suite,
  limitMs: number,
  ...options: readonly string[]
): Promise<Run> {
  const names = without.length === 0 ? [] : ["--test-name-pattern", allBut(without)];
  const child = guarded(
    Bun.spawn([process.execPath, "test", ...options, "--timeout", "30000", ...names, ...tests], {
      cwd: copy,
      env: { ...process.env, CI: "" },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    }),
  );
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill("SIGKILL");
  }, limitMs);
  // What a test has started may hold the pipe open after the end of the test.
  const output = collected(child.stderr);
  const code = await child.exited;
  clearTimeout(timer);
  return {
    verdict: late ? "timeout" : code === 0 ? "survived" : "found",
    failed: failedIn(await output.end()),
  };
}

/** The runner matches names whose groups are joined by a space, and prints them joined by " > ". */
function allBut(names: readonly string[]): string {
  const each = names.map((name) =>
    name.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" > ", "(?: > | )"),
  );
  return `^(?!\\s*(?:${each.join("|")})$)`;
}

function collected(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const reading = (async () => {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += decoder.decode(read.value, { stream: true });
    }
  })().catch(() => {});
  return {
    async end(): Promise<string> {
      await Promise.race([reading, Bun.sleep(1_000)]);
      void reader.cancel().catch(() => {});
      return text;
    },
  };
}

/** The runner names each file before its tests, and repeats what failed at its end. */
function failedIn(output: string): Failed[] {
  const failed: Failed[] = [];
  let file = "";
  for (const line of output.split("\n")) {
    file = /^(\S+\.test\.ts):$/.exec(line)?.[1] ?? file;
    const [, name] = /^\(fail\) (.*?)(?: \[[\d.]+ms\])?$/.exec(line) ?? [];
    if (name === undefined || file === "" || failed.some((one) => one.name === name)) continue;
    failed.push({ file, name });
  }
  return failed;
}
