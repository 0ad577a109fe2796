// The mutation tool on a small tree: what it finds to change and what it never touches, that the same seed draws the same,
// that a mutation is found again after its line moved and its names changed, and that tests judge it.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { AREAS } from "./areas.ts";
import { choose } from "./choose.ts";
import { createJudge } from "./judge.ts";
import type { Candidate } from "./kinds.ts";
import { locate } from "./locate.ts";
import { candidatesIn, mutated, sourcePaths } from "./sources.ts";

const BEFORE = `// a < b, never true
import type { deep_frozen } from "some_module";
type Size = 3 | "too_large" | true;
interface Shape<T extends "a_b"> { readonly size: 4 }

export function admits(count: number, most: number, open = true): boolean {
  // return count < 7;
  if (!open) return false;
  const said = \`\${count} < \${most}\` + "text && 8";
  Object.freeze(said);
  return count + 1_000 < most;
}

const refused = (code: Size) => code === "too_large" && code !== 3;
`;
const AFTER = `export function isAdmitted(requests: number, bound: number, open = true): boolean {
  if (!open) return false;
  return requests + 1_000 < bound;
}
`;
const SOURCE = "../src/limits/admits.ts";
const TEST = `import { expect, test } from "bun:test";
import { admits } from "${SOURCE}";
test("admits", () => expect([admits(1, 5_000), admits(1, 5_000, false)]).toEqual([true, false]));
`;

/** One fails whatever the sources are, one whenever it runs for the first time with these sources. */
const UNSTEADY = `import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "bun:test";
describe("a group", () => test("fails (1 + 1)", () => expect("one").toBe("another")));
test("is unsteady", () => {
  const mark = "./mark-" + Bun.hash(readFileSync("./src/limits/admits.ts", "utf8"));
  const known = existsSync(mark);
  writeFileSync(mark, "");
  if (!readFileSync("./src/limits/admits.ts", "utf8").includes("open = true")) expect(known).toBe(true);
});
`;

const REPOSITORY = join(import.meta.dirname, "../..");
const root = mkdtempSync(join(tmpdir(), "arborgate-mutation-test-"));
let candidates: Candidate[];

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

beforeAll(async () => {
  write("src/limits/admits.ts", BEFORE);
  write("src/admission.ts", AFTER);
  write("test/admits.test.ts", TEST);
  write("test/unsteady.test.ts", UNSTEADY);
  candidates = await candidatesIn(root, ["src/limits/admits.ts"]);
});
afterAll(() => rmSync(root, { recursive: true }));

test("every area has sources, and tests that judge them", () => {
  const sources = sourcePaths(REPOSITORY);
  const tests = [...new Glob("test/**/*.test.ts").scanSync(REPOSITORY)];
  const stale = Object.entries(AREAS).flatMap(([area, paths]) => [
    ...(sources.some((path) => path.startsWith(area)) ? [] : [area]),
    ...paths.filter((one) => !tests.some((path) => path.includes(one))),
  ]);
  expect(stale).toEqual([]);
});

const said = ({ line, before, after }: Candidate) => `${line}: ${before} -> ${after}`;

test("changes expressions and statements, and nothing in comments, texts, types and imports", () => {
  expect(candidates.map(said)).toEqual([
    "6: true -> false",
    "8: if (!open) return false; -> ;",
    "8: ! -> ",
    "8: false -> true",
    "10: Object.freeze(said); -> ;",
    "11: + -> -",
    "11: 1_000 -> 1001",
    "11: < -> <=",
    "14: === -> !==",
    '14: "too_large" -> "too_large_x"',
    "14: && -> ||",
    "14: !== -> ===",
    "14: 3 -> 4",
  ]);
  for (const candidate of candidates) expect(mutated(BEFORE, candidate)).not.toBeNull();
});

test("the same seed draws the same, each once", () => {
  const draw = (seed: number) => choose(candidates, { count: 9, seed, parses: () => true }).map(said);
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  expect(new Set(draw(1)).size).toBe(9);
});

test("a mutation is found again where it moved, by any names; what is gone is not", async () => {
  const now = await candidatesIn(root, ["src/admission.ts"]);
  const moves = { "src/limits/admits.ts": "src/admission.ts" };
  const found = candidates.map((one) => locate(one, now, moves)?.candidate);
  expect(found.map((one) => one && said(one))).toEqual([
    "1: true -> false",
    "2: if (!open) return false; -> ;",
    "2: ! -> ",
    "2: false -> true",
    undefined,
    "3: + -> -",
    "3: 1_000 -> 1001",
    "3: < -> <=",
    ...Array(5).fill(undefined),
  ]);
});

test("tests find a mutation that they notice, and miss one that they do not", async () => {
  Bun.spawnSync(["git", "init", "-q"], { cwd: root });
  symlinkSync(join(import.meta.dirname, "../../node_modules"), join(root, "node_modules"));
  const judge = createJudge(root, 60_000);
  const verdict = (line: number, before: string) =>
    judge.judge(candidates.find((one) => one.line === line && one.before === before)!, [
      "test/admits.test.ts",
    ]);
  write("src/limits/admits.ts", "// The copy is not touched by what happens here.\n");
  try {
    expect([await verdict(8, "false"), await verdict(11, "<")]).toEqual(["found", "survived"]);
    expect(await judge.judge(candidates[0]!, ["test/none.test.ts"])).toBe("unsound");
    // What fails by itself is left out, and what fails once and then passes alone is tried again.
    expect(await judge.judge(candidates[0]!, ["test/unsteady.test.ts"])).toBe("survived");
  } finally {
    judge.close();
  }
});
