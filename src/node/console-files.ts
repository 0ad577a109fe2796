// Reads the built console from its directory, for the endpoints that serve it. It never builds: what starts the node may pass
// on a function that does. Nothing is read before the first request for the console.

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, withTimeout } from "../base/clock.ts";
import type { ConsoleBuild, ConsoleFile, ConsoleFiles, ConsoleManifest } from "../http/console/build.ts";

/** Where the console lies, and what makes it up to date. */
export interface ConsoleSource {
  readonly directory: string;
  /** Resolves when the console is as it should be: to null, or to why that is not possible. Never rejects. */
  readonly ready: () => Promise<string | null>;
}

/** The console where the builder puts it, as it lies there. */
export const BUILT_CONSOLE: ConsoleSource = {
  directory: join(import.meta.dirname, "../../.cache/console"),
  ready: async () => null,
};

/** Milliseconds that a request waits for a build: a build takes a second or two. */
const BUILD_WAIT_MS = 10_000;
const UNDER_WAY = "The console is being built.";
const EXTENSIONS = { br: ".br", gzip: ".gz" } as const;

/** Creates the reader of a console's files. */
export function openConsole({ directory, ready }: ConsoleSource, clock: Clock): ConsoleFiles {
  /** Files of every build that was read here: pages that were loaded before a new build go on. */
  const files = new Map<string, ConsoleFile>();
  let known: { readonly writtenMs: number; readonly manifest: ConsoleManifest } | null = null;

  async function build(): Promise<ConsoleBuild> {
    const reason = await withTimeout(clock, BUILD_WAIT_MS, ready(), () => UNDER_WAY);
    if (reason !== null) return { kind: "unready", reason };
    const path = join(directory, "manifest.json");
    const written = await unlessMissing(stat(path));
    if (written === null) return { kind: "absent" };
    if (known === null || known.writtenMs !== written.mtimeMs) {
      const manifest: ConsoleManifest = JSON.parse(await readFile(path, "utf8"));
      for (const file of manifest.files) files.set(file.name, file);
      known = { writtenMs: written.mtimeMs, manifest };
    }
    return { kind: "built", manifest: known.manifest };
  }

  return {
    build,
    async find(name) {
      // Another node may have sent the page, so that this is the first request here, or one for the files of a new build.
      if (!files.has(name)) await build();
      return files.get(name) ?? null;
    },
    read: ({ name }, coding) =>
      unlessMissing(Bun.file(join(directory, name + (coding === null ? "" : EXTENSIONS[coding]))).bytes()),
  };
}

/** Returns what is read from a file; null when the file is missing. */
async function unlessMissing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
