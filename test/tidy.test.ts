// The rules of the sources, as tests: which folder may import which, what is banned where, how large a file or function may
// be, what a file opens with, what documents link to. No argument in reviews: change the rule here or keep it.

import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";
import { type Node, SyntaxKind } from "typescript/unstable/ast";
import { skipTrivia } from "typescript/unstable/ast/scanner";
import { visitSyntaxTrees } from "./syntax-trees.ts";

const ROOT = resolve(import.meta.dir, "..");
const files = (pattern: string): string[] => [...new Glob(pattern).scanSync(ROOT)].sort();
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const SOURCES = [...files("actors/**/*.ts"), ...files("src/**/*.{ts,tsx}")];
const CONSOLE = files("console/**/*.{ts,tsx}");
const CODE = [
  ...[...SOURCES, ...CONSOLE],
  ...[...files("test/**/*.ts"), ...files("bench/**/*.ts"), ...files("scripts/**/*.ts")],
];

/** A folder, and what it may import besides itself: the arrows between folders all point one way. */
const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  "src/base": [],
  "src/bus": [],
  "src/sse": [],
  "src/http1": ["src/base"],
  "src/store": ["src/base"],
  "src/runtime": ["src/base", "src/bus", "src/store"],
  actors: ["src/base", "src/runtime/actor.ts"],
  "src/dialect": ["actors", "src/base", "src/sse"],
  "src/upstream": ["actors", "src/base", "src/http1", "src/dialect"],
  "src/gateway": [
    ...["actors", "src/base", "src/http1", "src/runtime", "src/store/store.ts", "src/sse", "src/dialect"],
    "src/upstream",
  ],
  // It knows requests by the gateway's contract of traces alone.
  "src/telemetry": ["actors", "src/base", "src/gateway/request-trace.ts", "src/settings/tracing-settings.ts"],
  "src/report": ["actors", "src/base", "src/runtime", "src/store"],
  "src/mail": [
    ...["actors", "src/base", "src/runtime"],
    ...["src/store/store.ts", "src/store/tables.ts", "src/store/stored-rows.ts"],
  ],
  "src/admin": [
    ...["actors", "src/base", "src/runtime", "src/gateway", "src/upstream"],
    ...["src/store/store.ts", "src/store/tables.ts", "src/store/stored-rows.ts"],
  ],
  "src/supervisor": ["src/base", "src/settings"],
  "src/http": [
    ...["actors", "src/base", "src/http1", "src/runtime", "src/store/store.ts", "src/gateway", "src/admin"],
    ...["src/report", "src/store/store-errors.ts"],
  ],
};

const ruledFolderOf = (path: string): string | null =>
  Object.keys(ALLOWED_IMPORTS).find((folder) => path.startsWith(`${folder}/`)) ?? null;

function importsOf(path: string): string[] {
  const found = [...read(path).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => match[1]!);
  return found.map((target) => relative(ROOT, resolve(ROOT, dirname(path), target)));
}

describe("imports", () => {
  test.each(SOURCES.filter((path) => ruledFolderOf(path) !== null))(
    "%s imports only what its folder may",
    (path) => {
      const folder = ruledFolderOf(path)!;
      const allowed = [folder, ...ALLOWED_IMPORTS[folder]!];
      const forbidden = importsOf(path).filter(
        (target) => !allowed.some((one) => target === one || target.startsWith(`${one}/`)),
      );
      expect(forbidden).toEqual([]);
    },
  );

  test.each([
    ["the service", SOURCES],
    ["the console", CONSOLE],
  ])("no circle of files of %s", (_, paths) => {
    const edges = new Map(
      paths.map((path) => [path, importsOf(path).filter((target) => paths.includes(target))]),
    );
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
      if (done.has(path) || trail.includes(path)) return;
      for (const target of edges.get(path) ?? []) visit(target, [...trail, path]);
      done.add(path);
    };
    for (const path of paths) visit(path, []);
    expect(circles).toEqual([]);
  });

  test("every source file is imported by another, or is a door", () => {
    const doors = new Set([
      "src/main.ts",
      "src/gateway/large-body/worker.ts",
      "src/gateway/metering/token-worker.ts",
      "src/store/sqlite/usage-worker.ts",
      "src/store/sqlite/writer-worker.ts",
    ]);
    // In the place of a disk and of a mail server. Whatever else is imported by tests alone is dead.
    const standIns = new Set(["test/store/memory/memory.ts", "test/mail/memory-mailer.ts"]);
    const used = new Set(SOURCES.flatMap(importsOf));
    const reached = used.union(doors).union(standIns);
    expect(SOURCES.filter((path) => !reached.has(path))).toEqual([]);
  });
});

test("OpenTelemetry is loaded where traces are configured, and nowhere else", () => {
  const outside = SOURCES.filter((path) => !path.startsWith("src/telemetry/"));
  expect(outside.filter((path) => /from "@opentelemetry\//.test(read(path)))).toEqual([]);
  // A type is no import, and `import()` runs only where it is called.
  const importing = /import (?!type )[^;"]*from "[^"]*\/telemetry\//;
  expect(outside.filter((path) => importing.test(read(path)))).toEqual([]);
});

/** A folder of the console, and what its files may import from the others. Files beside the folders put them together. */
const CONSOLE_IMPORTS: Readonly<Record<string, readonly string[]>> = (() => {
  const shared = ["api", "i18n", "charts", "components"];
  return {
    api: [],
    i18n: ["api"],
    charts: ["api", "i18n"],
    components: ["api", "i18n", "charts"],
    // The account that is signed in, which the frame asks for once.
    pages: [...shared, "frame/status.ts"],
    frame: [...shared, "pages"],
  };
})();

/** What the console may take from the service, as types: what the API answers, and the codes of its errors. */
const CONSOLE_TYPES = /^src\/http\/(.+\/)?([\w-]+-)?schemas\.ts$|^src\/base\/error-codes\.ts$/;

describe("the console", () => {
  /** The folder below console/ of a file; null for a file beside the folders. */
  const folderOf = (path: string): string | null => {
    const [, folder, file] = path.split("/");
    return file === undefined ? null : folder!;
  };

  test.each(CONSOLE.filter((path) => folderOf(path) !== null))(
    "%s imports only what its folder may",
    (path) => {
      const folder = folderOf(path)!;
      const allowed = [folder, ...CONSOLE_IMPORTS[folder]!].map((one) => `console/${one}`);
      const forbidden = importsOf(path)
        .filter((target) => target.startsWith("console/"))
        .filter((target) => !allowed.some((one) => target === one || target.startsWith(`${one}/`)));
      expect(forbidden).toEqual([]);
    },
  );

  // It stands on the public HTTP API alone, and what it took from the service would be sent to every browser.
  test("takes from the service nothing but types of its API", () => {
    const forbidden = CONSOLE.flatMap((path) => {
      const types = [...read(path).matchAll(/import type [^;"]*from "(\.[^"]+)"/g)].map(([, target]) =>
        relative(ROOT, resolve(ROOT, dirname(path), target!)),
      );
      return importsOf(path)
        .filter((target) => !target.startsWith("console/"))
        .filter((target) => !types.includes(target) || !CONSOLE_TYPES.test(target))
        .map((target) => `${path} -> ${target}`);
    });
    expect(forbidden).toEqual([]);
  });

  test("is imported by nothing of the service", () => {
    const importing = SOURCES.filter((path) =>
      importsOf(path).some((target) => target.startsWith("console/")),
    );
    expect(importing).toEqual([]);
  });
});

/** Arrows between the children of a folder that lie on a circle. The list may only shrink. */
const CIRCLING: Readonly<Record<string, readonly string[]>> = {};

/** A child of src/gateway, and the other children that it may import. */
const GATEWAY_IMPORTS: Readonly<Record<string, readonly string[]>> = (() => {
  const carried = ["call.ts", "endpoints.ts", "request-lifetime.ts", "request-trace.ts"];
  const context = [
    ...carried,
    ...["account", "ended-context.ts", "metering", "model-label.ts", "codec", "routing", "stored-objects"],
  ];
  const admission = [...context, "context.ts", "request-history"];
  const attempt = [...admission, "admission", "large-body", "traffic"];
  const answer = [...attempt, "attempt"];
  return {
    "call.ts": [],
    "content-coding.ts": [],
    "request-lifetime.ts": [],
    "request-trace.ts": ["call.ts", "endpoints.ts"],
    account: [],
    metering: [],
    "endpoints.ts": ["metering"],
    "json-body.ts": [],
    "large-body": ["json-body.ts", "metering", "endpoints.ts", "codec"],
    "body.ts": ["content-coding.ts", "endpoints.ts", "json-body.ts", "large-body"],
    codec: ["call.ts", "endpoints.ts"],
    routing: ["account", "metering", "codec", "endpoints.ts"],
    "stored-objects": ["account", "routing"],
    "context.ts": context,
    "request-history": [...context, "context.ts"],
    "ended-context.ts": ["account", "request-trace.ts"],
    "model-label.ts": [],
    traffic: ["ended-context.ts", "model-label.ts"],
    admission,
    idempotency: [...admission, "admission"],
    attempt,
    answer,
    "dry-run": [...answer, "answer"],
    "forwarded-headers.ts": [],
    "stored-response.ts": [...answer, "answer", "forwarded-headers.ts"],
    "parse-request.ts": [...admission, "admission", "forwarded-headers.ts", "idempotency", "large-body"],
    "request.ts": [...answer, "answer", "idempotency", "parse-request.ts"],
  };
})();

test.each(SOURCES.filter((path) => path.startsWith("src/gateway/")))(
  "%s imports only what its part of the gateway may",
  (path) => {
    const childOf = (file: string): string => file.split("/")[2]!;
    const child = childOf(path);
    const others = importsOf(path)
      .filter((target) => target.startsWith("src/gateway/"))
      .map(childOf)
      .filter((other) => other !== child);
    expect(others.filter((other) => GATEWAY_IMPORTS[child]?.includes(other) !== true)).toEqual([]);
  },
);

describe("the children of a folder import one way", () => {
  const parents = ["src", "actors", "src/gateway", "src/runtime", "src/store", "src/http", "src/dialect"];

  test.each(parents)("%s", (parent) => {
    const childOf = (path: string): string | null =>
      path.startsWith(`${parent}/`) ? path.slice(parent.length + 1).split("/")[0]! : null;
    const arrows = new Map<string, Set<string>>();
    for (const path of SOURCES) {
      const from = childOf(path);
      if (from === null) continue;
      for (const to of importsOf(path).map(childOf)) {
        if (to !== null && to !== from) arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
      }
    }
    const reach = (from: string): Set<string> => {
      const seen = new Set<string>();
      const open = [from];
      for (let at = open.pop(); at !== undefined; at = open.pop()) {
        for (const next of arrows.get(at) ?? []) {
          if (seen.has(next)) continue;
          seen.add(next);
          open.push(next);
        }
      }
      return seen;
    };
    const circling = [...arrows].flatMap(([from, targets]) =>
      [...targets].filter((to) => reach(to).has(from)).map((to) => `${from} -> ${to}`),
    );
    expect(circling.sort()).toEqual([...(CIRCLING[parent] ?? [])].sort());
  });
});

test.each([
  ["the service", SOURCES],
  ["the console", CONSOLE],
])("an exported name of %s is declared in one file", (_, paths) => {
  const places = new Map<string, string[]>();
  for (const path of paths) {
    const declared =
      /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|class|interface|type|enum) (\w+)/gm;
    for (const [, name] of read(path).matchAll(declared)) {
      places.set(name!, [...(places.get(name!) ?? []), path]);
    }
  }
  expect([...places].filter(([, found]) => found.length > 1)).toEqual([]);
});

test("every exported value is used by another file", () => {
  const texts = new Map(CODE.map((path) => [path, read(path)]));
  const unused = SOURCES.flatMap((path) =>
    [...texts.get(path)!.matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm)]
      .map((match) => match[1]!)
      .filter(
        (name) =>
          ![...texts].some(([other, text]) => other !== path && new RegExp(`\\b${name}\\b`).test(text)),
      )
      .map((name) => `${path} ${name}`),
  );
  expect(unused).toEqual([]);
});

/** Lines of a function, its comments included. */
const FUNCTION_LINES_MAX = 100;

/** Functions that are longer, each as `file name`. The list may only shrink. */
const LONG_FUNCTIONS: readonly string[] = [];

/** Folders whose exported functions need no docstring yet. The list may only shrink. */
const UNDOCUMENTED_FOLDERS: readonly string[] = [];

const FUNCTIONS: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
]);

/** The name by which a function is listed: its own, or that of the constant or field that it is the value of. */
function functionName(node: Node): string {
  for (let one: Node | undefined = node; one !== undefined; one = one.parent) {
    const { name } = one as Node & { readonly name?: Node & { readonly text?: string } };
    if (name?.text !== undefined) return name.text;
  }
  return "default";
}

/** Whether a top-level statement declares a function and exports it. */
function isExportedFunction(statement: Node): boolean {
  const { modifiers, declarationList } = statement as Node & {
    readonly modifiers?: readonly Node[];
    readonly declarationList?: { readonly declarations: readonly { readonly initializer?: Node }[] };
  };
  if (modifiers?.some(({ kind }) => kind === SyntaxKind.ExportKeyword) !== true) return false;
  if (statement.kind === SyntaxKind.FunctionDeclaration) return true;
  return (
    declarationList?.declarations.some(
      ({ initializer }) => initializer !== undefined && FUNCTIONS.has(initializer.kind),
    ) === true
  );
}

describe("functions", () => {
  const long: string[] = [];
  const undocumented: string[] = [];

  beforeAll(() =>
    visitSyntaxTrees(ROOT, [...SOURCES, ...CONSOLE], ({ path, text, tree }) => {
      const visit = (node: Node): void => {
        const lines = text.slice(skipTrivia(text, node.pos), node.end).split("\n").length;
        if (FUNCTIONS.has(node.kind) && lines > FUNCTION_LINES_MAX)
          long.push(`${path} ${functionName(node)}`);
        node.forEachChild(visit);
      };
      visit(tree);
      for (const statement of tree.statements) {
        const trivia = text.slice(statement.pos, skipTrivia(text, statement.pos));
        if (isExportedFunction(statement) && !/\*\/\s*$/.test(trivia)) {
          undocumented.push(`${path}: ${text.slice(statement.pos, statement.end).trim().split("\n")[0]}`);
        }
      }
    }),
  );

  test(`have at most ${FUNCTION_LINES_MAX} lines`, () => {
    expect(long.sort()).toEqual([...LONG_FUNCTIONS]);
  });

  test("have a docstring when they are exported", () => {
    const isExcepted = (line: string) => UNDOCUMENTED_FOLDERS.some((folder) => line.startsWith(`${folder}/`));
    expect(undocumented.filter((line) => !isExcepted(line))).toEqual([]);
    const needless = UNDOCUMENTED_FOLDERS.filter(
      (folder) => !undocumented.some((line) => line.startsWith(`${folder}/`)),
    );
    expect(needless).toEqual([]);
  });
});

/** Banned in the named places; the message says what to use. */
const BANS: readonly { where: RegExp; except?: RegExp; what: RegExp; use: string }[] = [
  {
    where: /^(actors|src\/runtime|src\/store|src\/bus|src\/gateway|src\/admin|src\/mail)\//,
    except: /^src\/base\/(clock|deadlines)\.ts$/,
    what: /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\brandomUUID\(/,
    use: "time and chance come from src/base/clock.ts",
  },
  {
    where: /^actors\//,
    what: /\bawait\b|\basync\b|\bprocess\.|\bBun\.|\bcrypto\b|node:/,
    use: "actors/ decides: pure and synchronous",
  },
  {
    where: /^(actors|src)\//,
    except: /^src\/(main|settings\/settings)\.ts$|^src\/cli\//,
    what: /process\.env/,
    use: "settings are read in src/settings/settings.ts",
  },
  {
    where: /^(actors|console|src)\//,
    what: /catch\s*(\([^)]*\))?\s*\{\s*\}/,
    use: "a caught error is handled, or not caught",
  },
  {
    where: /^(actors|src)\//,
    except: /^src\/(cli\/|main\.ts)/,
    what: /console\./,
    use: "tell through the injected Log",
  },
  {
    where: /^(actors|console|src)\//,
    what: /\b(MOST_[A-Z_]+|[A-Z_]+_(MOST|LEAST)(_[A-Z]+)?)\b/,
    use: "a bound is NOUN_UNIT_MAX, or NOUN_UNIT_MIN",
  },
  {
    where: /^(actors|console|src|test|bench)\//,
    except: /^test\/tidy\.test\.ts$/,
    what: /\b(TODO|FIXME|XXX)\b|@ts-ignore|@ts-nocheck|\bas any\b/,
    use: "do it, or say it in an issue",
  },
  {
    where: /^console\//,
    what: /dangerouslySetInnerHTML|\binnerHTML\b|\bouterHTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(/,
    use: "what accounts and models write is shown as text, never as HTML",
  },
  {
    where: /^test\//,
    except: /^test\/tidy\.test\.ts$/,
    what: /\b(test|it|describe)\.(skip|only|todo)\b|expect\((true|1)\)/,
    use: "a test runs and can fail",
  },
];

describe("bans", () => {
  test.each(BANS.map((ban) => [ban.use, ban] as const))("%s", (_use, { where, except, what }) => {
    const found = CODE.filter((path) => where.test(path) && !except?.test(path)).flatMap((path) =>
      read(path)
        .split("\n")
        .flatMap((line, i) =>
          what.test(line.replace(/\/\/.*|^\s*\*.*/, "")) ? [`${path}:${i + 1} ${line.trim()}`] : [],
        ),
    );
    expect(found).toEqual([]);
  });
});

/** What looks at how long something took: the machine's clock that never steps, and differences of readings. */
const ELAPSED =
  /\bperformance\.(now|mark|measure|timeOrigin)\b|\bnanoseconds\(|\bhrtime\b|\bprocess\.uptime\b|\bconsole\.time|\bDate\.now\(\)\s*-\s*[a-z]|\bnew Date\(\)\.getTime\b|\.timeStamp\b/i;
/** The same on the clock of the service, which only in the hands of a test says something about work. */
const ELAPSED_ON_CLOCK = /\bmono\(\)\s*-|-\s*[\w.!]*\bmono\(\)/;

/** Lines of tests that read the machine's clock, each with what it may: nothing is judged by any of them. */
const CLOCK_READ_IN_TESTS: Readonly<Record<string, readonly (readonly [line: string, why: string])[]>> = {
  "test/e2e/timers.ts": [
    ["const realNow = performance.now;", "the clock that tests hold"],
    ["performance.now = running;", "lets it run again"],
    ["this.nowMs = performance.now();", "where it is held"],
    ["performance.now = () => this.nowMs;", "holds it"],
  ],
  "test/e2e/cluster/attempt.ts": [
    ["startedAt: performance.now(),", "the order of attempts and faults"],
    ["made.endedAt = performance.now();", "the order of attempts and faults"],
  ],
  "test/e2e/cluster/judge.ts": [
    [
      "const now = performance.now();",
      "whether somebody still waits: the court looks again until nobody does",
    ],
  ],
  "test/e2e/cluster/load.ts": [
    ["const beganAt = performance.now();", "how many minutes of a limit the load has had"],
    ["endedAt = performance.now();", "how many minutes of a limit the load has had"],
    [
      "minutes: () => Math.floor((Math.min(endedAt, performance.now()) - beganAt) / 60_000) + 1,",
      "how many minutes of a limit the load has had",
    ],
  ],
  "test/e2e/cluster/trial.ts": [
    ["let began = performance.now();", "a figure that is printed"],
    ["const now = performance.now();", "a figure that is printed"],
    ["faultAt = performance.now();", "what began after the fault"],
    [
      "return performance.now() - last >= CALM_MS && isCalmSince(load, last);",
      "a wait until nothing has failed for a while",
    ],
    ["calmAt = performance.now();", "what began after the recovery"],
  ],
  "test/faults/bench.ts": [
    ["const began = performance.now();", "a figure that is printed"],
    [
      "return { results, wrong, verified, charged, ms: Math.round(performance.now() - began) };",
      "a figure that is printed",
    ],
  ],
  "test/mutation/main.ts": [
    ["const began = performance.now();", "a figure that is printed"],
    ["const ms = Math.round(performance.now() - began);", "a figure that is printed"],
  ],
  "test/store/kept/make.ts": [
    ["const end = performance.now() + mostMs;", "a bound of waiting"],
    [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the line as it stands
      "if (performance.now() > end) throw new Error(`not in time: ${what}`);",
      "a bound of waiting",
    ],
  ],
  "test/store/kept/service.ts": [
    ["const until = performance.now() + START_MS;", "a bound of waiting"],
    ["if (child.exitCode() !== null || performance.now() > until) {", "a bound of waiting"],
  ],
  "test/sim/main.ts": [
    ["const begun = performance.now();", "a figure that is printed"],
    ["const seconds = (performance.now() - begun) / 1_000;", "a figure that is printed"],
  ],
};

describe("tests count work, and never judge elapsed time", () => {
  const readings = (path: string): string[] => {
    const text = read(path);
    return text
      .split("\n")
      .map((line) => line.replace(/\/\/.*|^\s*\/?\*.*/, "").trim())
      .filter((line) => ELAPSED.test(line) || (text.includes("realClock") && ELAPSED_ON_CLOCK.test(line)));
  };
  const found = files("test/**/*.ts")
    .filter((path) => path !== "test/tidy.test.ts")
    .flatMap((path) => readings(path).map((line) => ({ path, line })));

  test("nothing reads the machine's clock but what is listed", () => {
    const isListed = ({ path, line }: (typeof found)[number]) =>
      CLOCK_READ_IN_TESTS[path]?.some(([listed]) => listed === line) === true;
    expect(found.filter((one) => !isListed(one)).map(({ path, line }) => `${path}: ${line}`)).toEqual([]);
  });

  test("no file that asserts is listed, and whatever is listed is there", () => {
    for (const [path, lines] of Object.entries(CLOCK_READ_IN_TESTS)) {
      expect([path, /\bexpect\(|bun:test/.test(read(path))]).toEqual([path, false]);
      const there = new Set(found.filter((one) => one.path === path).map(({ line }) => line));
      expect(lines.map(([line]) => line).filter((line) => !there.has(line))).toEqual([]);
    }
  });

  test.each([
    "expect(performance.now() - startMs).toBeLessThan(500);",
    "expect((Bun.nanoseconds() - began) / 1e6).toBeLessThan(500);",
    "const [seconds] = process.hrtime(began);",
    "const tookMs = Date.now() - startedAt;",
    "console.timeEnd();",
  ])("and the rule would find: %s", (line) => expect(ELAPSED.test(line)).toBe(true));

  test.each(["expect(clock.mono() - from).toBeLessThan(9);", "const late = end - clock.mono();"])(
    "and on a real clock: %s",
    (line) => expect(ELAPSED_ON_CLOCK.test(line)).toBe(true),
  );

  test.each([
    "const end = Date.now() + mostMs;",
    "if (Date.now() > end) throw late;",
    "at: Date.now() - 60_000",
  ])("and leaves bounds of waiting alone: %s", (line) =>
    expect(ELAPSED.test(line) || ELAPSED_ON_CLOCK.test(line)).toBe(false),
  );
});

/** A shorter file has its code in the file that needs it, unless several need it. */
const FILE_LINES_MIN = 30;

/** Shorter files that one file imports at most. The list may only shrink. */
const SMALL_FILES: readonly string[] = [
  // Entry points of threads are files of their own.
  "src/gateway/metering/token-worker.ts",
];

describe("files", () => {
  test("a comment is a sentence with a subject", () => {
    const found = CODE.flatMap((path) =>
      read(path)
        .split("\n")
        .filter((line) =>
          /(\/\/|\/?\*\*?) +(Of |Null: |Absent: |Empty: |False: |Whoever |Nobody )/.test(line),
        )
        .map((line) => `${path}: ${line.trim()}`),
    );
    expect(found).toEqual([]);
  });

  test("a file that a comment names exists", () => {
    const named = /(?<![\w/.-])((?:\.{1,2}\/)?\w(?:[\w./-]*[\w-])?\.(?:tsx?|md|json|sh))\b(?!\()/g;
    const known = [
      ...CODE,
      ...files("**/*.{md,json,sh}").filter((path) => !path.startsWith("node_modules/")),
    ];
    const isKnown = (name: string) => known.some((path) => `/${path}`.endsWith(`/${name}`));
    const missing = [...SOURCES, ...CONSOLE].flatMap((path) =>
      read(path)
        .split("\n")
        .filter((line) => /^\s*(\/\/|\/?\*)/.test(line))
        .flatMap((line) => [...line.matchAll(named)].map((match) => match[1]!.replace(/^(\.{1,2}\/)+/, "")))
        .filter((name) => !isKnown(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  test(`a file of fewer than ${FILE_LINES_MIN} lines is shared`, () => {
    const users = Map.groupBy(
      SOURCES.flatMap((path) => importsOf(path).map((target) => ({ path, target }))),
      ({ target }) => target,
    );
    const small = SOURCES.filter((path) => read(path).split("\n").length - 1 < FILE_LINES_MIN).filter(
      (path) => (users.get(path)?.length ?? 0) < 2,
    );
    expect(small).toEqual([...SMALL_FILES]);
  });

  test("every file opens with a comment that says what it owns", () => {
    expect(CODE.filter((path) => !/^(#!.*\n)?\/\/ \S/.test(read(path)))).toEqual([]);
  });

  test("no source file has more than 400 lines, and nine of ten have fewer than 260", () => {
    const sizes = [...SOURCES, ...CONSOLE].map((path) => ({ path, lines: read(path).split("\n").length }));
    expect(sizes.filter(({ lines }) => lines > 400).map(({ path, lines }) => `${path} ${lines}`)).toEqual([]);
    expect(sizes.filter(({ lines }) => lines > 260).length).toBeLessThanOrEqual(sizes.length / 10);
  });

  test("no folder is called by what it is not", () => {
    expect(
      CODE.filter((path) => /(^|\/)(utils?|helpers?|common|managers?|services)(\/|\.ts$)/.test(path)),
    ).toEqual([]);
  });

  test("the lock file names no address", () => {
    expect(read("bun.lock")).not.toMatch(/https?:\/\//);
  });
});

describe("documents", () => {
  const documents = [...files("*.md"), ...files("{docs,src,test,data,bench,actors,console}/**/*.md")];

  test.each(documents)("every link of %s leads somewhere", (path) => {
    const links = [...read(path).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
      .map((match) => match[1]!)
      .filter((link) => !/^[a-z]+:/.test(link));
    expect(links.filter((link) => !existsSync(join(ROOT, dirname(path), link)))).toEqual([]);
  });
});
