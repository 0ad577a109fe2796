// A console of a few bytes, laid out as the builder lays out the real one: for tests of how it is served. One of its files belongs
// to administration.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { ConsoleManifest } from "../../../src/http/console/build.ts";
import type { ConsoleSource } from "../../../src/node/console-files.ts";

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";

/** The content of each file. */
export const SAMPLE_FILES: Readonly<Record<string, string>> = {
  "main-aaaaaaaa.js": 'import("/console/files/pool-bbbbbbbb.js");\n',
  "pool-bbbbbbbb.js": 'document.title = "Pool";\n',
  "main-cccccccc.css": "body{margin:0}\n",
  "color-scheme-dddddddd.js": 'document.documentElement.dataset.scheme = "dark";\n',
  "icon-eeeeeeee.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>\n',
};

/** The one of these that only pages of administration load. */
export const SAMPLE_ADMINISTRATION_FILE = "pool-bbbbbbbb.js";

const typeOf = (name: string): string =>
  name.endsWith(".js") ? SCRIPT : name.endsWith(".css") ? STYLE : "image/svg+xml";

export const SAMPLE_MANIFEST: ConsoleManifest = {
  sources: "f".repeat(64),
  ...{ script: "main-aaaaaaaa.js", style: "main-cccccccc.css" },
  ...{ colorScheme: "color-scheme-dddddddd.js", icon: "icon-eeeeeeee.svg" },
  files: Object.keys(SAMPLE_FILES).map((name) => ({
    name,
    type: typeOf(name),
    isAdministration: name === SAMPLE_ADMINISTRATION_FILE,
  })),
};

/** Writes files and manifest into a directory, which is made. */
export function writeConsole(
  directory: string,
  files: Readonly<Record<string, string>> = SAMPLE_FILES,
  manifest: ConsoleManifest = SAMPLE_MANIFEST,
): void {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(directory, name), text);
    writeFileSync(join(directory, `${name}.br`), brotliCompressSync(text));
    writeFileSync(join(directory, `${name}.gz`), gzipSync(text));
  }
  writeFileSync(join(directory, "manifest.json"), JSON.stringify(manifest));
}

/** A source that writes the sample when it is first asked for, so that who never asks pays nothing. */
export function sampleConsole(directory: string): ConsoleSource {
  let isWritten = false;
  return {
    directory,
    async ready() {
      if (!isWritten) writeConsole(directory);
      isWritten = true;
      return null;
    },
  };
}
