// What documents say of the sources, checked against them: names of the glossary, settings, links to headings, the drawing
// of the folders, the length of the README. It counts and compares; it never reads a clock.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";
import { drawing, importedFolders, PAGE, withDrawing } from "../scripts/architecture.ts";
import { ERROR_CODES, type ErrorCode, errorRowOf } from "../src/base/error-codes.ts";
import { type AppParts, routesOf } from "../src/http/app.ts";
import { isAdministration } from "../src/http/management.ts";
import { METRICS } from "../src/http/operations/metric-table.ts";
import { PROCESS_METRICS } from "../src/http/operations/process-metrics.ts";
import { DECLARED_SETTINGS } from "./declared-settings.ts";

const ROOT = resolve(import.meta.dir, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const files = (pattern: string): string[] => [...new Glob(pattern).scanSync(ROOT)].sort();

const DOCUMENTS = [...files("*.md"), ...files("{docs,src,test,bench,actors,console,scripts}/**/*.md")];

describe("the README", () => {
  test("has at most 150 lines", () => {
    expect(read("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(150);
  });

  test("leads to every page of docs/", () => {
    expect(files("docs/*.md").filter((page) => !read("README.md").includes(`(${page}`))).toEqual([]);
  });
});

describe("pages", () => {
  test.each(files("docs/*.md"))("%s opens with one sentence that says what it is for", (path) => {
    const [title, blank, opening] = read(path).split("\n");
    expect(title).toMatch(/^# \S/);
    expect(blank).toBe("");
    expect(opening).toMatch(/^This page /);
  });

  /** The anchor of a heading, as it is made where the pages are read. */
  const anchorOf = (heading: string): string =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-");
  const anchorsIn = (path: string): string[] =>
    [...read(path).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => anchorOf(heading!));

  test.each(DOCUMENTS)("every link of %s to a heading finds it", (path) => {
    const lost = [...read(path).matchAll(/\]\(([^)\s#:]*)#([^)\s]+)\)/g)].filter(([, file, anchor]) => {
      const target = file === "" ? path : relative(ROOT, resolve(ROOT, dirname(path), file!));
      return !target.endsWith(".md") || !anchorsIn(target).includes(anchor!);
    });
    expect(lost.map(([link]) => link)).toEqual([]);
  });
});

describe("docs/agents.md", () => {
  /** The blocks of a page that are files, each with the file that is linked last before it. */
  const blocks = [...read("docs/agents.md").matchAll(/^```(?!sh$)(\w+)\n(.*?)^```$/gms)].map((match) => {
    const links = [
      ...read("docs/agents.md")
        .slice(0, match.index)
        .matchAll(/\]\((agents\/[^)]+)\)/g),
    ];
    return [links.at(-1)![1]!, match[2]!] as const;
  });

  test.each(blocks)("shows %s as it is", (path, text) => {
    expect(text).toBe(read(`docs/${path}`));
  });

  test("shows every file of its folder, which tests run", () => {
    const here = [...new Glob("docs/agents/**/*").scanSync({ cwd: ROOT, dot: true })].sort();
    expect(blocks.map(([path]) => `docs/${path}`).sort()).toEqual(here);
    const programs = read("test/e2e/agents/programs.ts") + read("test/e2e/agents/claude-code.test.ts");
    expect(here.filter((path) => !programs.includes(path.replace("docs/agents/", "")))).toEqual([]);
  });
});

describe("errors", () => {
  test("docs/errors.md has the rows of the table of codes, in its order", () => {
    const rows = Object.entries(ERROR_CODES).map(([code, { meaning }]) => {
      const { status, type } = errorRowOf(code as ErrorCode);
      return `| ${status} | \`${type}\` | \`${code}\` | ${meaning} |`;
    });
    expect([...(read("docs/errors.md").match(/^\| \d.*$/gm) ?? [])]).toEqual(rows);
  });
});

describe("metrics", () => {
  const rowsOf = (cell: RegExp): string[] => [...(read("docs/metrics.md").match(cell) ?? [])];

  test("docs/metrics.md has the rows of the table of metrics, in its order", () => {
    const rows = Object.entries({ ...METRICS, ...PROCESS_METRICS }).map(([name, { type, labels, help }]) => {
      const shown = labels.map((label) => `\`${label}\``).join(", ");
      return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
    });
    expect(rowsOf(/^\| `(?:arborgate|process|nodejs)_.*$/gm)).toEqual(rows);
  });
});

describe("settings", () => {
  const declared = DECLARED_SETTINGS;
  const rowsOf = (path: string): string[] =>
    [...read(path).matchAll(/^\| (`[A-Z][A-Z0-9_]+`(?:, `[A-Z][A-Z0-9_]+`)*) \|/gm)].flatMap(([, cell]) =>
      [...cell!.matchAll(/`(\w+)`/g)].map((match) => match[1]!),
    );

  test("whatever docs/settings.md has a row for is a setting, and every setting stands there", () => {
    const pages = read("docs/settings.md") + read("docs/tracing.md");
    expect(declared.size).toBeGreaterThan(30);
    expect(rowsOf("docs/settings.md").filter((name) => !declared.has(name))).toEqual([]);
    expect([...declared].filter((name) => !pages.includes(`\`${name}`))).toEqual([]);
  });

  test("the row of ADMIN_PORT lists the paths that answer only there", () => {
    const administration = routesOf({} as AppParts).filter(({ hooks }) => {
      const access = hooks.detail?.["x-access"];
      return access !== undefined && isAdministration(access);
    });
    const firstParts = administration.map(({ path }) => path.split("/", 2).join("/"));
    const row = /^\| `ADMIN_PORT`, .*$/m.exec(read("docs/settings.md"))![0];
    const named = [...row.matchAll(/`(\/x-[a-z]+)`/g)].map(([, path]) => path!);
    expect(named.toSorted()).toEqual([...new Set(firstParts)].sort());
  });

  test.each(["docs/cluster.md", "docs/tracing.md"])("so is whatever %s has a row for", (path) => {
    expect(rowsOf(path).filter((name) => !declared.has(name))).toEqual([]);
  });

  test.each(DOCUMENTS)("every variable that %s sets before a command is a setting", (path) => {
    const shell = [...read(path).matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1]!).join("\n");
    const lines = shell.replaceAll("\\\n", " ").split("\n");
    const set = lines.flatMap((line) => {
      const before = line.match(/^(?:[A-Z][A-Z0-9_]*=\S* +)+(?=npm )/)?.[0] ?? "";
      return [...before.matchAll(/([A-Z][A-Z0-9_]*)=/g)].map((one) => one[1]!);
    });
    expect(set.filter((name) => !declared.has(name))).toEqual([]);
  });
});

describe("the threats of SECURITY.md", () => {
  const rows = [
    ...read("SECURITY.md").matchAll(/^\| (?!Who|the newest|anything|Version|-)([^|]+) \|(.+)\|$/gm),
  ].map(([, who, rest]) => ({ who: who!, cells: rest!.split(" | ") }));

  test("come from everybody who could be one", () => {
    const whos = rows.map(({ who }) => who);
    const expected = [
      ...["a stranger", "an account holder", "a manager", "an Owner", "a provider", "a network neighbour"],
      ...["an operator of a node", "a thief of a backup"],
    ];
    expect(expected.filter((who) => !whos.includes(who))).toEqual([]);
  });

  test.each(rows.map((row) => [row.who, row.cells[0]!.trim(), row] as const))(
    "%s: %s",
    (_who, _wants, { cells }) => {
      expect(cells.length).toBe(3);
      const tests = [...cells.at(-1)!.matchAll(/\]\((test\/[^)]+\.test\.ts)\)/g)].map(([, path]) => path!);
      expect(tests.length).toBeGreaterThan(0);
      expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    },
  );
});

describe("the glossary", () => {
  const rows = [...read("docs/GLOSSARY.md").matchAll(/^\| `(\w+)` \| .+ \| \[[^\]]+\]\(([^)]+)\) \|$/gm)].map(
    ([, name, link]) => [name!, relative(ROOT, resolve(ROOT, "docs", link!))] as const,
  );

  test("explains a name once, and every row is read", () => {
    const lines = read("docs/GLOSSARY.md").match(/^\| `/gm) ?? [];
    expect(rows.length).toBe(lines.length);
    expect(rows.length).toBeGreaterThan(100);
    expect(new Set(rows.map(([name]) => name)).size).toBe(rows.length);
  });

  test("names the file that declares each", () => {
    const undeclared = rows.filter(([name, path]) => {
      const declaration = new RegExp(
        `^export (async |abstract )?(function|const|class|interface|type) ${name}\\b|^ +(readonly )?${name}\\??[(:<]`,
        "m",
      );
      return !declaration.test(read(path));
    });
    expect(undeclared).toEqual([]);
  });
});

describe("the architecture", () => {
  test("has a drawing of the folders as they are: else npm run architecture", () => {
    const page = readFileSync(PAGE, "utf8");
    expect(withDrawing(page, drawing(importedFolders()))).toBe(page);
  });

  test("names every folder of the sources", () => {
    const page = read("docs/ARCHITECTURE.md");
    const unnamed = [...importedFolders().keys()].filter(
      (folder) =>
        folder !== "main.ts" && !page.includes(folder === "actors" ? "`actors/`" : `\`src/${folder}/\``),
    );
    expect(unnamed).toEqual([]);
  });

  test("an arrow that follows from others is left out, and a circle is refused", () => {
    const arrows = new Map([
      ["a", new Set(["b", "c"])],
      ["b", new Set(["c"])],
      ["c", new Set<string>()],
    ]);
    expect(drawing(arrows).split("\n").slice(2, -1)).toEqual(["  a --> b", "  b --> c"]);
    arrows.set("c", new Set(["a"]));
    expect(() => drawing(arrows)).toThrow("imports itself");
  });
});

describe("files that CONTRIBUTING.md names", () => {
  test("are links, so that the test of links finds the one that moved", () => {
    const bare = [...read("CONTRIBUTING.md").matchAll(/(?<!\[)`((?:src|actors|test)\/[\w./-]+)`/g)];
    expect(bare.map((match) => match[1])).toEqual([]);
  });
});
