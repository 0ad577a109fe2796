// The image, without an engine: the Dockerfile's own steps make a tree in empty folders, and its own command starts it there
// as somebody who may write nowhere but into data/. As root that is the user nobody without any capability (setpriv); otherwise
// it is the user of the test on a tree without a right to write.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json";
import { readSettings } from "../../src/settings/settings.ts";
import { type Child, startChild } from "../children.ts";
import { accountFactory, callsTo, MODEL, until } from "../e2e/harness.ts";
import { type Provider, startProvider } from "../provider/provider.ts";
import { freePort } from "../store/tcp.ts";
import { buildImage, HOME, type Image } from "./build-image.ts";
import { contextFilter, environmentOf, named, parseDockerfile } from "./dockerfile.ts";

const read = (path: string): string => readFileSync(join(HOME, path), "utf8");
const STAGES = parseDockerfile(read("Dockerfile"));
const LAST = STAGES.at(-1)!;
const ADDED_BYTES_MAX = 190_000_000;
const NOBODY = 65_534;
const IS_ROOT = process.getuid?.() === 0;

describe("the Dockerfile", () => {
  test("has two stages on one base, whose Bun is that of package.json", () => {
    expect(STAGES.map(({ image }) => image.replace(/@sha256:[0-9a-f]{64}$/, ""))).toEqual(
      Array(2).fill(`oven/bun:${packageJson.dependencies.bun}-slim`),
    );
  });

  test("copies into the last stage only what the first one made, and runs nothing there", () => {
    expect(named(LAST, "COPY").filter(({ flags }) => flags.from !== STAGES[0]!.name)).toEqual([]);
    expect(named(LAST, "RUN")).toEqual([]);
  });

  test("sets settings, and what scripts/bun.sh sets to the same values", () => {
    const { HOST, BUN_RUNTIME_TRANSPILER_CACHE_PATH, ...ofBun } = environmentOf(LAST);
    const script = read("scripts/bun.sh");
    for (const [name, value] of Object.entries(ofBun)) {
      expect(script).toContain(`${name}=\${${name}:-${value}}`);
    }
    expect([HOST, BUN_RUNTIME_TRANSPILER_CACHE_PATH]).toEqual(["0.0.0.0", "0"]);
  });

  test("has another user than root, by number, and one volume where the settings put their data", () => {
    const [user] = named(LAST, "USER")[0]!.args;
    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(named(LAST, "COPY").flatMap(({ flags }) => flags.chown ?? [])).toEqual([user!]);
    const workdir = named(LAST, "WORKDIR")[0]!.args[0]!;
    const { storeUrl, spoolDir } = readSettings({}, false);
    expect(named(LAST, "VOLUME").map(({ args }) => args)).toEqual([[join(workdir, "data")]]);
    expect([storeUrl.replace("sqlite:", ""), spoolDir].map((path) => path.split("/")[0])).toEqual([
      "data",
      "data",
    ]);
  });

  test("exposes the port of the settings, and only that", () => {
    const exposed = named(LAST, "EXPOSE").flatMap(({ args }) => args);
    expect(exposed).toEqual([String(readSettings({}, false).port)]);
  });
});

describe("what a build sees", () => {
  const sees = contextFilter(read(".dockerignore"));

  test.each([
    ...["data/arborgate.db", "data/secrets.key", ".git/config", ".cache/console/manifest.json"],
    ...["deploy/secrets/arborgate.env", "node_modules/bun/package.json", "test/tidy.test.ts", ".env"],
    ...["src/store/README.md", "scripts/audit.ts"],
  ])("is not %s", (path) => expect(sees(path)).toBe(false));

  test("is every file that is copied from it", () => {
    const sources = STAGES.flatMap((stage) => named(stage, "COPY"))
      .filter(({ flags }) => flags.from === undefined)
      .flatMap(({ args }) => args.slice(0, -1));
    expect(sources.length).toBeGreaterThan(5);
    expect(sources.filter((path) => !sees(path) || !existsSync(join(HOME, path)))).toEqual([]);
  });
});

describe("the image", () => {
  let image: Image;
  let provider: Provider;
  let child: Child;
  let url = "";
  let env: Record<string, string>;
  let rootKey = "";
  let before: Map<string, string>;

  /** Files and folders outside the data, with what a write would change. */
  const tree = (): Map<string, string> =>
    new Map(
      ["", ...(readdirSync(image.root, { recursive: true }) as string[])]
        .filter((path) => !image.owned.some((owned) => `${path}/`.startsWith(`${owned}/`)))
        .map((path) => {
          const { mtimeMs, size, mode } = lstatSync(join(image.root, path));
          return [path, `${mtimeMs} ${size} ${mode}`];
        }),
    );
  const start = (...args: readonly string[]): Child => {
    const command = [image.bun, ...args];
    const caged = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--no-new-privs"];
    return startChild(
      IS_ROOT ? [...caged, "--inh-caps=-all", "--bounding-set=-all", "--", ...command] : command,
      {
        ...{ cwd: image.workdir, env },
        onLine: (line) => {
          url ||= /serves on (\S+)/.exec(line)?.[1] ?? "";
          rootKey ||= /Root's API key, shown only now: (\S+)/.exec(line)?.[1] ?? "";
        },
      },
    );
  };
  const argsOf = (name: string) => named(LAST, name)[0]!.args.filter((arg, i) => i > 0 || arg !== "bun");

  beforeAll(async () => {
    image = await buildImage();
    for (const path of ["", ...(readdirSync(image.root, { recursive: true }) as string[])]) {
      const full = join(image.root, path);
      const { mode } = lstatSync(full);
      if (!lstatSync(full).isSymbolicLink()) chmodSync(full, mode & 0o555);
    }
    for (const owned of image.owned) {
      chmodSync(join(image.root, owned), 0o700);
      if (IS_ROOT) chownSync(join(image.root, owned), NOBODY, NOBODY);
    }
    provider = startProvider();
    before = tree();
    env = {
      ...{ ...environmentOf(image.stage), PATH: "/usr/bin:/bin", HOME: "/nonexistent", TMPDIR: image.root },
      ...{ HOST: "127.0.0.1", PORT: String(await freePort()), PROVIDER_ALLOW_CIDRS: "127.0.0.0/8" },
    };
    child = start(...argsOf("ENTRYPOINT"), ...argsOf("CMD"));
    await until("the image serves", () => {
      if (child.exitCode() !== null) throw new Error(`it ended:\n${child.tail()}`);
      return url !== "" && rootKey !== "";
    });
  }, 240_000);
  afterAll(async () => {
    child?.signal("SIGKILL");
    await child?.exited;
    await provider?.close();
    if (image === undefined) return;
    for (const path of tree().keys()) {
      const full = join(image.root, path);
      // Without a right to write nobody but root could remove them.
      if (lstatSync(full).isDirectory()) chmodSync(full, 0o755);
    }
    rmSync(image.home, { recursive: true, force: true });
  });

  test(`adds at most ${ADDED_BYTES_MAX / 1e6} MB to its base`, () => {
    const paths = readdirSync(image.root, { recursive: true }) as string[];
    const sizes = paths.map((path) => lstatSync(join(image.root, path))).filter((one) => one.isFile());
    const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
    expect(bytes).toBeGreaterThan(10_000_000);
    expect(bytes).toBeLessThanOrEqual(ADDED_BYTES_MAX);
  });

  test("has the production dependencies, and no compiler, linter, test or second Bun", () => {
    const has = (name: string) => existsSync(join(image.workdir, "node_modules", name));
    const { bun: _, ...production } = packageJson.dependencies;
    expect(Object.keys(production).filter((name) => !has(name))).toEqual([]);
    expect([...Object.keys(packageJson.devDependencies), "bun", "@oven", ".bin"].filter(has)).toEqual([]);
    expect(
      ["test", "console", "scripts", "bench", "docs"].filter((name) => existsSync(join(image.workdir, name))),
    ).toEqual([]);
  });

  test("answers its own health check", async () => {
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const asked = start(...argsOf("HEALTHCHECK"));
    expect([await asked.exited, asked.tail()]).toEqual([0, `${url}/healthz: 200 ok`]);
  });

  test("serves the console that it was built with", async () => {
    const page = await (await fetch(`${url}/console`)).text();
    const scripts = [...page.matchAll(/(?:src|href)="(\/console\/files\/[^"]+)"/g)].map(([, path]) => path!);
    expect(scripts.length).toBeGreaterThan(1);
    const statuses = scripts.map(async (path) => (await fetch(url + path)).status);
    expect(await Promise.all(statuses)).toEqual(scripts.map(() => 200));
  });

  test("answers a chat completion, and charges it", async () => {
    const { call } = callsTo(() => url);
    const { owner, subaccount } = accountFactory(call, rootKey, provider.url);
    const user = await subaccount(await owner());
    const body = { model: MODEL, messages: [{ role: "user", content: "Hello" }] };
    const { status, headers } = await call(user.key, "POST", "/v1/chat/completions", body);
    expect([status, Number(headers.get("x-arbor-cost")) > 0]).toEqual([200, true]);
  });

  test("ends by SIGTERM with 0, and has written nothing outside data/", async () => {
    child.signal("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(readdirSync(join(image.workdir, "data"))).toContain("arborgate.db");
    const after = tree();
    const changed = [...before.keys(), ...after.keys()].filter(
      (path) => before.get(path) !== after.get(path),
    );
    expect([...new Set(changed)]).toEqual([]);
  });

  test("fails its health check when nothing answers", async () => {
    const asked = start(...argsOf("HEALTHCHECK"));
    expect(await asked.exited).toBe(1);
  });
});
