// The builder of the console: what it writes, when it builds again, which files are administration's, what it refuses.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { ConsoleManifest } from "../../src/http/console/build.ts";
import { plantSources, runBuilder, SAMPLE_SOURCES, writeSource } from "./sample-sources.ts";

let home: string;
let directory: string;
beforeAll(() => {
  home = plantSources();
  directory = join(home, "built");
});
afterAll(() => rmSync(home, { recursive: true }));

const build = () => runBuilder(directory, home);
const manifestOf = (): ConsoleManifest => JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8"));
const textOf = (name: string): string => readFileSync(join(directory, name), "utf8");
const holding = (text: string): ConsoleManifest["files"] =>
  manifestOf().files.filter(({ name }) => textOf(name).includes(text));
const change = (path: string, text: string) => writeSource(home, path, text);

beforeEach(async () => {
  for (const [path, text] of Object.entries(SAMPLE_SOURCES)) change(path, text);
  expect(await build()).toEqual({ code: 0, complaint: "" });
});

describe("what is written", () => {
  test("is every file of the manifest, as it is and in both compressed forms", () => {
    const { files } = manifestOf();
    for (const { name } of files) {
      const bytes = readFileSync(join(directory, name));
      expect(brotliDecompressSync(readFileSync(join(directory, `${name}.br`))).equals(bytes)).toBe(true);
      expect(gunzipSync(readFileSync(join(directory, `${name}.gz`))).equals(bytes)).toBe(true);
      expect(name).toMatch(/^[a-z-]+-[0-9a-z]{8}\.(js|css|svg)$/);
    }
    expect(readdirSync(directory).length).toBe(files.length * 3 + 1);
  });

  test("has the entry, the style sheet, the classic script and the icon among its files", () => {
    const { script, style, colorScheme, icon, files } = manifestOf();
    const typeOf = (wanted: string) => files.find(({ name }) => name === wanted)?.type;
    expect([script, colorScheme, style, icon].map(typeOf)).toEqual([
      ...["text/javascript; charset=utf-8", "text/javascript; charset=utf-8"],
      ...["text/css; charset=utf-8", "image/svg+xml"],
    ]);
    expect(textOf(script)).toMatch(/import\("\/console\/files\/home-[0-9a-z]{8}\.js"\)/);
    expect(textOf(colorScheme)).not.toMatch(/\b(import|export)\b/);
  });

  const kitSheet = (part: string): string =>
    readFileSync(join(home, "node_modules/@mantine/core", part), "utf8");
  /** Without comments, blanks and last semicolons, which is all that the builder may leave out. */
  const bare = (css: string): string => css.replaceAll(/\/\*[\s\S]*?\*\/|\s/g, "").replaceAll(";}", "}");

  test("has the whole style sheets of the components that are used, in the kit's order", () => {
    const css = bare(textOf(manifestOf().style));
    const parts = [
      "baseline",
      "default-css-variables",
      "global",
      "UnstyledButton",
      "Loader",
      "Button",
      "Title",
    ];
    const places = parts.map((part) => css.indexOf(bare(kitSheet(`styles/${part}.css`))));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(css).not.toContain(bare(kitSheet("styles/Stepper.css")));
  });

  test("has the styles of every class that a script names", () => {
    const css = textOf(manifestOf().style);
    const kit = kitSheet("styles.css");
    const scripts = manifestOf().files.filter(({ name }) => name.endsWith(".js"));
    const used = new Set(scripts.flatMap(({ name }) => textOf(name).match(/\bm_[0-9a-f]+\b/g) ?? []));
    expect(used.size).toBeGreaterThan(5);
    expect([...used].filter((one) => kit.includes(one) && !css.includes(one))).toEqual([]);
  });

  test("ends its style sheet with our own, whose texts in quotes are as they were", () => {
    expect(textOf(manifestOf().style)).toEndWith('.own > p{margin : 0;content: "a ; } /* b */  c"}');
  });
});

describe("a further run", () => {
  const WRITTEN = new Date("2026-01-15T12:00:00Z");
  const isBuiltAgain = async (): Promise<boolean> => {
    utimesSync(join(directory, "manifest.json"), WRITTEN, WRITTEN);
    expect((await build()).code).toBe(0);
    return statSync(join(directory, "manifest.json")).mtimeMs !== WRITTEN.getTime();
  };

  test("builds nothing when no source has changed, whatever their times say", async () => {
    const later = new Date("2030-01-01T00:00:00Z");
    utimesSync(join(home, "console/words.ts"), later, later);
    expect(await isBuiltAgain()).toBe(false);
  });

  test("does not mind documents", async () => {
    change("console/README.md", "# Changed\n");
    expect(await isBuiltAgain()).toBe(false);
  });

  test.each([
    ["a module", "console/words.ts", 'export const word = "ANOTHER-WORD";\n'],
    ["a style", "console/styles/own.css", ".own { margin: 1px }\n"],
    ["the lock file", "bun.lock", '{ "lockfileVersion": 2 }\n'],
    ["a new file", "console/more.ts", "export {};\n"],
  ])("builds again when %s has changed", async (_, path, text) => {
    change(path, text);
    try {
      expect(await isBuiltAgain()).toBe(true);
    } finally {
      if (!(path in SAMPLE_SOURCES)) rmSync(join(home, path));
    }
  });

  test.each(["manifest.json", "a file", "a compressed file"])(
    "builds again when %s is gone",
    async (what) => {
      const { script } = manifestOf();
      const name = { "manifest.json": what, "a file": script, "a compressed file": `${script}.br` }[what]!;
      rmSync(join(directory, name));
      expect((await build()).code).toBe(0);
      expect(existsSync(join(directory, name))).toBe(true);
    },
  );

  test("builds again when the manifest cannot be read", async () => {
    writeFileSync(join(directory, "manifest.json"), "{");
    expect((await build()).code).toBe(0);
    expect(manifestOf().files.length).toBeGreaterThan(4);
  });

  test("gives a changed file another name, and what loads it too; the others keep theirs", async () => {
    const before = manifestOf();
    change("console/pages/home.tsx", SAMPLE_SOURCES["console/pages/home.tsx"]!.replace("OF-HOME", "CHANGED"));
    await build();
    const after = manifestOf();
    expect(after.script).not.toBe(before.script);
    expect([after.style, after.colorScheme, after.icon]).toEqual([
      before.style,
      before.colorScheme,
      before.icon,
    ]);
  });

  test("keeps files of the build before, and drops them after a day", async () => {
    const before = manifestOf().script;
    change("console/words.ts", 'export const word = "LATER";\n');
    await build();
    expect(existsSync(join(directory, before))).toBe(true);
    const old = new Date(Date.now() - 2 * 86_400_000);
    for (const name of readdirSync(directory)) utimesSync(join(directory, name), old, old);
    change("console/words.ts", 'export const word = "LATEST";\n');
    await build();
    expect(existsSync(join(directory, before))).toBe(false);
    expect(readdirSync(directory).length).toBe(manifestOf().files.length * 3 + 1);
  });
});

test("two at once write one whole build", async () => {
  change("console/words.ts", 'export const word = "AT-ONCE";\n');
  const ends = await Promise.all([build(), build(), build()]);
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
  for (const { name } of manifestOf().files) expect(existsSync(join(directory, `${name}.gz`))).toBe(true);
  expect(readdirSync(directory).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

describe("administration's files", () => {
  test("are its pages, what they share among each other, and what only they use", () => {
    for (const text of ["HEADING-OF-POOL", "HEADING-OF-PRICES", "SECRET-OF-ADMIN", "TOOL-OF-ADMIN"]) {
      const files = holding(text);
      expect([text, files.length > 0, files.every(({ isAdministration }) => isAdministration)]).toEqual([
        ...[text, true, true],
      ]);
    }
  });

  test("are not what other pages use too", () => {
    for (const text of ["HEADING-OF-HOME", "WORD-OF-ALL"]) {
      const files = holding(text);
      expect([text, files.length > 0, files.some(({ isAdministration }) => isAdministration)]).toEqual([
        ...[text, true, false],
      ]);
    }
  });

  test("cannot become public: a page of administration that is imported at once is an error", async () => {
    const before = manifestOf();
    change("console/words.ts", 'export { secret as word } from "./pages/admin/secret.ts";\n');
    const { code, complaint } = await build();
    expect(code).not.toBe(0);
    expect(complaint).toContain("console/pages/admin/secret.ts is imported at once");
    expect(manifestOf()).toEqual(before);
  });
});

test.each([
  ["a syntax error", "console/words.ts", "export const word = ;\n", /words\.ts/],
  ["a module that is not there", "console/words.ts", 'export { word } from "./none.ts";\n', /none\.ts/],
  [
    "a style that a module imports",
    "console/words.ts",
    'import "./styles/own.css";\nexport const word = "";\n',
    /styles/,
  ],
])("%s ends it with a reason, and what was built stays", async (_, path, text, reason) => {
  const before = manifestOf();
  change(path, text);
  const { code, complaint } = await build();
  expect(code).not.toBe(0);
  expect(complaint).toMatch(reason);
  expect(manifestOf()).toEqual(before);
});
