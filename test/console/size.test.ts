// The console as it is built from its sources: how much a browser loads, and what must not be in any file. Sizes are those of the
// files compressed by gzip, as they are sent to a browser that knows no better.

import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { ConsoleManifest } from "../../src/http/console/build.ts";
import { BUILT_CONSOLE } from "../../src/node/console-files.ts";
import { runBuilder } from "./sample-sources.ts";

const HOME = resolve(import.meta.dirname, "../..");
const { directory } = BUILT_CONSOLE;

/** Bytes of a thousand, as budgets count. */
const KB = 1_000;
const ENTRY_BYTES_MAX = 160 * KB;
const FIRST_HOME_BYTES_MAX = 200 * KB;
const CHUNK_BYTES_MAX = 60 * KB;

let manifest: ConsoleManifest;
let texts: ReadonlyMap<string, string>;
beforeAll(async () => {
  expect(await runBuilder(directory)).toEqual({ code: 0, complaint: "" });
  manifest = JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8"));
  texts = new Map(manifest.files.map(({ name }) => [name, readFileSync(join(directory, name), "utf8")]));
});

const sizeOf = (names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + statSync(join(directory, `${name}.gz`)).size, 0);

/** The files that a script cannot run without: itself and what it imports, but not what it may load later. */
function neededBy(script: string, needed: Set<string> = new Set()): Set<string> {
  if (needed.has(script)) return needed;
  needed.add(script);
  const imports = texts.get(script)!.matchAll(/(?:\bfrom|\bimport) ?"\/console\/files\/([^"]+)"/g);
  for (const [, name] of imports) neededBy(name!, needed);
  return needed;
}

/** The chunk of a module, which is called after it. */
const chunkOf = (module: string): string =>
  manifest.files.find(({ name }) => new RegExp(`^${module}-[0-9a-z]{8}\\.js$`).test(name))!.name;

describe("a browser loads", () => {
  const entry = () => new Set([manifest.style, manifest.colorScheme, ...neededBy(manifest.script)]);

  test(`at most ${ENTRY_BYTES_MAX / KB} KB before anything is shown`, () => {
    expect(sizeOf(entry())).toBeLessThanOrEqual(ENTRY_BYTES_MAX);
  });

  test(`at most ${FIRST_HOME_BYTES_MAX / KB} KB for the first Home of who is signed in`, () => {
    const home = ["signed-in", "home"].map((module) => neededBy(chunkOf(module)));
    const all = home.reduce((sum, one) => sum.union(one), entry());
    expect(sizeOf(all)).toBeLessThanOrEqual(FIRST_HOME_BYTES_MAX);
  });

  test(`at most ${CHUNK_BYTES_MAX / KB} KB in any file after the entry`, () => {
    const first = entry();
    const later = manifest.files.map(({ name }) => name).filter((name) => !first.has(name));
    expect(later.length).toBeGreaterThan(2);
    expect(later.filter((name) => sizeOf([name]) > CHUNK_BYTES_MAX)).toEqual([]);
  });

  test(`at most ${CHUNK_BYTES_MAX / KB} KB for a page beside what every page needs`, () => {
    const shared = neededBy(chunkOf("signed-in")).union(entry());
    const loaded = [...texts.values()].flatMap((text) => [
      ...text.matchAll(/import\("\/console\/files\/([^"]+)"\)/g),
    ]);
    const pages = [...new Set(loaded.map(([, name]) => name!))];
    const large = pages.filter((name) => sizeOf(neededBy(name).difference(shared)) > CHUNK_BYTES_MAX);
    expect(large).toEqual([]);
  });
});

describe("no file", () => {
  const holding = (what: RegExp): string[] =>
    [...texts].filter(([, text]) => what.test(text)).map(([name]) => name);

  test("names a source map", () => expect(holding(/sourceMappingURL/)).toEqual([]));

  test("names a path of this machine", () => {
    const escaped = (path: string) => path.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    expect(holding(new RegExp(`${escaped(HOME)}|${escaped(homedir())}/|node_modules/|file:///`))).toEqual([]);
  });

  test("is of a development build", () => {
    expect(holding(/jsxDEV|process\.env\.NODE_ENV/)).toEqual([]);
    // Only without its development build does React say its errors by number.
    expect(holding(/react\.dev\/errors\//).length).toBe(1);
  });

  test("makes code of texts, which the policy forbids", () => {
    expect(holding(/\beval\(|\bnew Function\(/)).toEqual([]);
  });

  test("names a script or a style elsewhere", () => {
    expect(holding(/@import|url\((?!"?data:)|import\("https?:|from"https?:/)).toEqual([]);
  });
});

test("every module that a script loads is there", () => {
  const named = [...texts.values()].flatMap((text) => [...text.matchAll(/\/console\/files\/([\w.-]+\.js)/g)]);
  expect(named.map(([, name]) => name!).filter((name) => !texts.has(name))).toEqual([]);
});
