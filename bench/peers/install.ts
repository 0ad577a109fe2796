// The programs that arborgate is compared with: nginx as the system has it, LiteLLM and Portkey's gateway in fixed versions,
// installed by their own package managers into .cache/peers, which git ignores. Installs nothing outside of it.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type Installed =
  | { readonly ok: true; readonly command: readonly string[]; readonly version: string }
  /** `reason` is one line for the page. */
  | { readonly ok: false; readonly reason: string };

const CACHE = join(import.meta.dirname, "../../.cache/peers");
const LITELLM = "1.106.2";
const PORTKEY = "1.15.2";
/** Streams fail with newer ones: https://github.com/Portkey-AI/gateway/issues/1389. */
const PORTKEY_OVERRIDES = { "@hono/node-server": "1.13.7" };
const INSTALL_MS_MAX = 600_000;
/** Written into a folder when all of it is installed. */
const STAMP = "installed.txt";

/** Finds nginx, also where Debian keeps servers. */
export async function findNginx(): Promise<Installed> {
  const path = Bun.which("nginx", { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` });
  if (path === null) return { ok: false, reason: "not installed (Debian: `apt-get install nginx-light`)" };
  const { text } = await run([path, "-v"]);
  return { ok: true, command: [path], version: /nginx\/(\S+)/.exec(text)?.[1] ?? "of an unknown version" };
}

/** Installs the proxy of LiteLLM into a virtual environment of Python. */
export async function installLiteLlm(): Promise<Installed> {
  const python = Bun.which("python3");
  if (python === null) return { ok: false, reason: "not installed: there is no python3" };
  const home = join(CACHE, `litellm-${LITELLM}`);
  return installed(home, {
    files: {},
    commands: [
      [python, "-m", "venv", home],
      [join(home, "bin/pip"), "install", "--quiet", "--no-input", `litellm[proxy]==${LITELLM}`],
    ],
    program: [join(home, "bin/litellm")],
    version: LITELLM,
  });
}

/** Installs Portkey's gateway, which runs on Node. */
export async function installPortkey(): Promise<Installed> {
  const [npm, node] = [Bun.which("npm"), Bun.which("node")];
  if (npm === null || node === null) return { ok: false, reason: "not installed: there is no node or npm" };
  const home = join(CACHE, `portkey-${PORTKEY}`);
  const packageJson = JSON.stringify({
    private: true,
    dependencies: { "@portkey-ai/gateway": PORTKEY },
    overrides: PORTKEY_OVERRIDES,
  });
  return installed(home, {
    files: { "package.json": packageJson },
    commands: [[npm, "install", "--prefix", home, "--no-audit", "--no-fund", "--ignore-scripts"]],
    program: [node, join(home, "node_modules/@portkey-ai/gateway/build/start-server.js")],
    version: `${PORTKEY} on Node ${(await run([node, "--version"])).text.trim()}`,
  });
}

/** Runs the commands unless an earlier run did; a folder that was not finished is made anew. */
async function installed(
  home: string,
  recipe: {
    /** Text by name, written before the commands run. */
    readonly files: Readonly<Record<string, string>>;
    readonly commands: readonly (readonly string[])[];
    readonly program: readonly string[];
    readonly version: string;
  },
): Promise<Installed> {
  const stamp = join(home, STAMP);
  const wanted = [...recipe.commands.flat(), ...Object.values(recipe.files)].join(" ");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home, { recursive: true });
    for (const [name, text] of Object.entries(recipe.files)) writeFileSync(join(home, name), text);
    for (const command of recipe.commands) {
      const { code, text } = await run(command);
      const last = text.trim().split("\n").at(-1) ?? "";
      if (code !== 0) return { ok: false, reason: `not installed: ${last.slice(0, 200)}` };
    }
    writeFileSync(stamp, wanted);
  }
  return { ok: true, command: recipe.program, version: recipe.version };
}

async function run(command: readonly string[]): Promise<{ code: number; text: string }> {
  const child = Bun.spawn([...command], { stdout: "pipe", stderr: "pipe", timeout: INSTALL_MS_MAX });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, text: `${out}${err}` };
}
