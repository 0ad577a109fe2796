// The service as a process of its own, on a store that was kept: driven over the command line and HTTP alone, so that it
// does not matter how the sources are arranged. What is started is what `npm run cli` starts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Child, startChild } from "../../children.ts";
import { freePort } from "../tcp.ts";

const HOME = join(import.meta.dirname, "../../..");
const { scripts } = JSON.parse(readFileSync(join(HOME, "package.json"), "utf8"));
const ENTRY = join(HOME, String(scripts.cli).split(" ").at(-1)!);
const START_MS = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a stranger's script would
export type Json = any;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined when the text is not JSON. */
  readonly body: Json;
}

export interface Asked {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Running {
  readonly url: string;
  call(key: string, method: string, path: string, asked?: Asked): Promise<Answer>;
  /** The same, and its answer's JSON; throws when it is refused. */
  must(key: string, method: string, path: string, body?: unknown): Promise<Json>;
  end(signal: "SIGKILL" | "SIGTERM"): Promise<number>;
}

export interface Where {
  readonly storeUrl: string;
  readonly secretsKey: string;
  /** A directory of its own: the spool lies there. */
  readonly directory: string;
  readonly env?: Readonly<Record<string, string>>;
}

const environment = ({ storeUrl, secretsKey, directory, env }: Where): Record<string, string> => ({
  STORE_URL: storeUrl,
  SECRETS_KEY: secretsKey,
  SPOOL_DIR: join(directory, "spool"),
  PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
  LOG_LEVEL: "error",
  ...env,
});

/** Starts it with the business clock at `at` (wall ms, not before now), and waits until it is ready. */
export async function serve(where: Where, at: number): Promise<Running> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = startChild([process.execPath, ENTRY, "serve"], {
    cwd: where.directory,
    env: {
      ...environment(where),
      PORT: new URL(url).port,
      ALLOW_CLOCK_OFFSET: "1",
      CLOCK_OFFSET_MS: String(Math.max(0, at - Date.now())),
    },
  });
  await ready(url, child);

  async function call(
    key: string,
    method: string,
    path: string,
    { body, headers }: Asked = {},
  ): Promise<Answer> {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: jsonOf(text) };
  }
  return {
    url,
    call,
    async must(key, method, path, body) {
      const answer = await call(key, method, path, { body });
      if (answer.status === 200) return answer.body;
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    },
    async end(signal) {
      child.signal(signal);
      return child.exited;
    },
  };
}

async function ready(url: string, child: Child): Promise<void> {
  const until = performance.now() + START_MS;
  for (;;) {
    const response = await fetch(`${url}/readyz`).catch(() => null);
    if (response?.ok) return;
    if (child.exitCode() !== null || performance.now() > until) {
      child.signal("SIGKILL");
      throw new Error(`the service does not start: ${child.tail()}`);
    }
    await Bun.sleep(50);
  }
}

/** Runs a command to its end. */
export async function cli(where: Where, ...args: readonly string[]): Promise<{ code: number; out: string }> {
  const said: string[] = [];
  const child = startChild([process.execPath, ENTRY, ...args], {
    cwd: where.directory,
    env: environment(where),
    onLine: (line) => void said.push(line),
  });
  const code = await child.exited;
  return { code, out: said.join("\n") };
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
