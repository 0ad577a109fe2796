// The files that operators deploy with, read as their programs read them; and secrets as deploy/new-secrets.sh makes them.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { stopMs } from "../../src/node/stop-times.ts";
import { KILLED_MS_MAX } from "../../src/supervisor/supervision.ts";
import { environmentFile } from "../declared-settings.ts";
import { announceSkipped } from "../skipped.ts";
import { HOME } from "./build-image.ts";

/** Whatever a YAML file of somebody else's schema holds. */
// biome-ignore lint/suspicious/noExplicitAny: the tests read the shapes of Compose and of Kubernetes
export type Yaml = any;

/** Reads a file of the project. */
export const read = (path: string): string => readFileSync(join(HOME, path), "utf8");

/** Parses a file of one YAML document, with anchors and merge keys. */
export const readYaml = (path: string): Yaml => parse(read(path), { merge: true });

/** Parses a file of several YAML documents. Throws for one with an error. */
export const readYamls = (path: string): Yaml[] =>
  parseAllDocuments(read(path)).map((document) => {
    for (const error of document.errors) throw error;
    return document.toJS();
  });

/** Milliseconds that a node, or the parent of several, may need from SIGTERM to its end: docs/cluster.md, starts and stops. */
export const endMs = (settings: Parameters<typeof stopMs>[0]): number => stopMs(settings) + KILLED_MS_MAX;

/** An image with a tag that names one version, and perhaps its digest. */
export const EXACT_IMAGE = /^[a-z][a-z0-9./-]*:v?\d+\.\d+\.\d+(-[a-z0-9.]+)?(@sha256:[0-9a-f]{64})?$/;

/** New secrets in a folder of their own. */
export interface NewSecrets {
  readonly directory: string;
  /** What nodes get of them. */
  readonly env: Record<string, string>;
  remove(): void;
}

/** Runs deploy/new-secrets.sh into a temporary folder. */
export function newSecrets(): NewSecrets {
  const home = mkdtempSync(join(tmpdir(), "arborgate-secrets-"));
  const directory = join(home, "secrets");
  const { success, stderr } = Bun.spawnSync(["sh", join(HOME, "deploy/new-secrets.sh"), directory]);
  if (!success) throw new Error(stderr.toString());
  const env = environmentFile(readFileSync(join(directory, "arborgate.env"), "utf8"));
  return { directory, env, remove: () => rmSync(home, { recursive: true }) };
}

/** Finds a server's program, also where Debian keeps it; null: what needs it is skipped, loudly. With CI=true that is an error. */
export function programOf(name: string, what: string): string | null {
  const found = Bun.which(name, { PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin` });
  if (found !== null) return found;
  if (process.env.CI === "true") throw new Error(`${what}: no ${name} in PATH`);
  announceSkipped(what, `no ${name} in PATH`);
  return null;
}

/** What a program said, and its exit code. */
export function run(
  command: readonly string[],
  env: Record<string, string> = {},
): { code: number; text: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], {
    ...{ cwd: HOME, env: { PATH: process.env.PATH!, ...env }, timeout: 30_000 },
  });
  return { code: exitCode, text: `${stdout}${stderr}` };
}
