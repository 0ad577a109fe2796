// The names of all settings, as src/settings reads them from the environment. For tests that compare documents and
// files for operators with it.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../src/settings");
const SOURCES = ["settings.ts", "tracing-settings.ts"].map((file) =>
  readFileSync(join(FOLDER, file), "utf8"),
);

/** Every name that the settings are read from. */
export const DECLARED_SETTINGS: ReadonlySet<string> = new Set(
  [...SOURCES.join("\n").matchAll(/"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)"/g)].map((match) => match[1]!),
);

/** The variables of a file of `NAME=value` lines. */
export const environmentFile = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^([A-Z][A-Z0-9_]*)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
  );
