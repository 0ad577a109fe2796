// The programs of docs/agents.md, each configured by the page's own files in a home folder of its own and with no other
// environment: they reach the model through the service, the ledger has what the provider generated, and they speak to nothing
// outside of this machine. Without a program its rows are left out, with a closing line that says so.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startChild } from "../../children.ts";
import { announceSkipped } from "../../skipped.ts";
import { type Bench, charges, type Json, nano, startBench } from "../harness.ts";
import { preparePython } from "../python.ts";
import { SETTINGS } from "../sdk/customers.ts";
import { prepareAider, prepareCodex } from "./installed.ts";
import { type Outside, watchOutside } from "./outside.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import { type Customer, customerWith, type KeyKind, SERVED, worthOf } from "./provider-keys.ts";

const ROOT = join(import.meta.dir, "../../..");
const PAGES = join(ROOT, "docs/agents");
/** The address that the page's files name. */
const ADDRESS = "http://127.0.0.1:8080";

const [python, codex, aider] = await Promise.all([preparePython(), prepareCodex(), prepareAider()]);
const installation = { bun: process.execPath, python, codex, aider };
const NAMES = { python, codex, aider };
for (const [name, one] of Object.entries(NAMES)) {
  if (!one.ok) announceSkipped(`programs of docs/agents.md that need ${name}`, one.reason);
}

interface Run {
  readonly program: Program;
  readonly kind: KeyKind;
  readonly path: string;
  customer?: Customer;
  exitCode?: number;
  printed?: string;
}

const RUNS = PROGRAMS.flatMap((program): Run[] => {
  const installed = program.installed(installation);
  if (!installed.ok) return [];
  return SERVED.filter(([speaks]) => speaks === program.speaks).map(([, kind]) => ({
    program,
    kind,
    path: installed.path,
  }));
});

let bench: Bench;
let outside: Outside;
// Outside of the project: programs look for files of theirs in the repository that they are called in.
const homes = mkdtempSync(join(tmpdir(), "arborgate-agents-"));

/** Runs the commands of a program in a home of its own, and keeps what the last one printed. */
async function carryOut(run: Run): Promise<void> {
  const { program, path } = run;
  const { key } = run.customer!.user;
  const home = mkdtempSync(join(homes, "home-"));
  // The packages of scripts.
  symlinkSync(join(ROOT, "node_modules"), join(home, "node_modules"));
  for (const [place, page] of Object.entries(program.files)) {
    mkdirSync(dirname(join(home, place)), { recursive: true });
    const text = readFileSync(join(PAGES, page), "utf8").replaceAll(ADDRESS, bench.url);
    writeFileSync(join(home, place), text);
  }
  const env = { HOME: home, ...outside.env, ...program.env?.(key) };
  for (const command of program.commands(path, key, program.said)) {
    const printed: string[] = [];
    const child = startChild(command, { cwd: home, env, onLine: (line) => printed.push(line) });
    run.exitCode = await child.exited;
    run.printed = printed.join("\n");
  }
}

beforeAll(async () => {
  bench = await startBench({ settings: SETTINGS });
  outside = watchOutside();
  for (const run of RUNS) run.customer = await customerWith(bench, run.kind, [run.program.model]);
  // Two at a time: some of them take a second of a processor to start.
  const waiting = [...RUNS];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await carryOut(next);
  };
  await Promise.all([worker(), worker()]);
}, 300_000);

afterAll(async () => {
  await bench.close();
  outside.close();
  rmSync(homes, { recursive: true, force: true });
});

describe.each(RUNS.map((run) => [run.program.name, run.kind, run] as const))(
  "%s, key for %s",
  (_name, _, { program, ...rest }) => {
    const run: Run = RUNS.find((one) => one.program === program && one.kind === rest.kind)!;

    test("is answered", () => {
      expect([run.printed, run.exitCode]).toEqual([expect.stringContaining(program.prints), 0]);
    });

    test("the provider gets each of its requests, and the results of its tools", () => {
      const calls = run.customer!.calls();
      expect(calls.map(({ status, model }) => [status, model])).toEqual(
        Array(program.requests).fill([200, program.model]),
      );
      if (program.result === undefined) return;
      const results = JSON.stringify(
        (calls.at(-1)!.body as Json).input ?? (calls.at(-1)!.body as Json).messages,
      );
      expect(results.split(program.result).length - 1).toBeGreaterThanOrEqual(program.requests - 1);
    });

    test("the ledger has what the provider generated", async () => {
      const lines = charges(await bench.ledger(run.customer!.user.key));
      const calls = run.customer!.calls();
      expect(lines.map(({ basis }) => basis)).toEqual(Array(program.requests).fill("provider"));
      expect(lines.map(({ amount }) => -nano(amount))).toEqual(calls.map(worthOf));
    });
  },
);

test("none of them asked for anything outside of this machine", () => expect(outside.asked).toEqual([]));

const METADATA: Record<string, { input_cost_per_token: number; output_cost_per_token: number }> = JSON.parse(
  readFileSync(join(PAGES, "aider/.aider.model.metadata.json"), "utf8"),
);

test.each(Object.entries(METADATA))("aider has the price of %s as it is charged", (name, metadata) => {
  const { ChatPricing } = JSON.parse(readFileSync(join(ROOT, "actors/catalog/default-prices.json"), "utf8"));
  const { InputText, OutputText } = ChatPricing[name.split("/")[1]!];
  expect([metadata.input_cost_per_token * 1e6, metadata.output_cost_per_token * 1e6]).toEqual([
    InputText,
    OutputText,
  ]);
});
