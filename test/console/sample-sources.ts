// A console of a few modules, with the parts that a build has to tell apart: a page, two pages of administration, what they share
// with each other, and what they share with all.

import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const HOME = join(import.meta.dirname, "../..");
const BUN = join(HOME, "node_modules/.bin/bun");

const page = (heading: string, ...imports: readonly string[]): string =>
  [
    'import { Button, Title } from "@mantine/core";',
    'import { word } from "../WHERE/words.ts";',
    ...imports,
    `export default function Page() { return <Title className={word}><Button>${heading}</Button></Title>; }`,
  ].join("\n");

const ADMINISTRATION = [
  'import { secret } from "./secret.ts";',
  'import { tool } from "../../components/tool.ts";',
  'export const used = [secret, tool, "USED"];',
];

/** The sources, by path below the home. */
export const SAMPLE_SOURCES: Readonly<Record<string, string>> = {
  "bun.lock": "{}\n",
  "console/main.tsx": `
import { lazy } from "react";
import { createRoot } from "react-dom/client";
import { MantineProvider } from "@mantine/core";
const pages = [import("./pages/home.tsx"), import("./pages/admin/pool.tsx"), import("./pages/admin/prices.tsx")];
const [Home, Pool, Prices] = pages.map((page) => lazy(() => page));
createRoot(document.body).render(<MantineProvider><Home /><Pool /><Prices /></MantineProvider>);
`,
  "console/color-scheme.ts": 'document.documentElement.dataset.scheme = "dark";\n',
  "console/styles/own.css":
    '/* no comment */\n.own  >  p { margin : 0 ;\n  content: "a ; } /* b */  c" ; }\n',
  "console/icon.svg": '<svg xmlns="http://www.w3.org/2000/svg"><title>x</title></svg>\n',
  "console/words.ts": 'export const word = "WORD-OF-ALL";\n',
  "console/components/tool.ts": 'export const tool = "TOOL-OF-ADMINISTRATION";\n',
  "console/pages/home.tsx": page("HEADING-OF-HOME").replace("../WHERE/", "../"),
  "console/pages/admin/secret.ts": 'export const secret = "SECRET-OF-ADMINISTRATION";\n',
  "console/pages/admin/pool.tsx": page("HEADING-OF-POOL", ...ADMINISTRATION).replace("../WHERE/", "../../"),
  "console/pages/admin/prices.tsx": page("HEADING-OF-PRICES", ...ADMINISTRATION).replace(
    "../WHERE/",
    "../../",
  ),
};

/** Writes sources into a folder of their own and returns it. The libraries are ours. */
export function plantSources(sources: Readonly<Record<string, string>> = SAMPLE_SOURCES): string {
  const home = mkdtempSync(join(tmpdir(), "arborgate-console-"));
  symlinkSync(join(HOME, "node_modules"), join(home, "node_modules"));
  for (const [path, text] of Object.entries(sources)) writeSource(home, path, text);
  return home;
}

/** Writes one of them. */
export function writeSource(home: string, path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}

/** Runs the builder as the service does, and returns how it ended. */
export async function runBuilder(
  directory: string,
  home = HOME,
): Promise<{ code: number; complaint: string }> {
  const command = [BUN, join(HOME, "scripts/build-console.ts"), directory, home];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const [complaint, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  return { code, complaint };
}
