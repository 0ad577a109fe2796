// `npm run architecture`: draws the folders of the sources from their imports, between two markers of docs/ARCHITECTURE.md.
// An arrow that follows from others is left out: what `http` imports of `base` shows through `gateway`.

import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";

const ROOT = resolve(import.meta.dir, "..");
export const PAGE = join(ROOT, "docs/ARCHITECTURE.md");
const OPENING = "<!-- architecture: made by npm run architecture -->";
const CLOSING = "<!-- end of architecture -->";

/** Returns the folder of a source file: `actors`, a folder of `src/`, or `main.ts`. */
const folderOf = (path: string): string => {
  const [top, second] = path.split("/");
  return top === "src" ? second! : top!;
};

/** Returns, for each folder, the other folders that its files import. */
export function importedFolders(): Map<string, Set<string>> {
  const arrows = new Map<string, Set<string>>();
  for (const path of [...new Glob("{actors,src}/**/*.ts").scanSync(ROOT)].sort()) {
    const from = folderOf(path);
    const targets = arrows.get(from) ?? new Set();
    arrows.set(from, targets);
    const text = readFileSync(join(ROOT, path), "utf8");
    for (const [, target] of text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+\.ts)"/g)) {
      const to = folderOf(relative(ROOT, resolve(ROOT, dirname(path), target!)));
      if (to !== from) targets.add(to);
    }
  }
  return arrows;
}

/** Returns every folder that is reached from `from`. Throws when `from` is one of them. */
function reachedFrom(arrows: Map<string, Set<string>>, from: string): Set<string> {
  const reached = new Set<string>();
  const open = [...(arrows.get(from) ?? [])];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === from) throw new Error(`the folder ${from} imports itself by way of others`);
    if (reached.has(at)) continue;
    reached.add(at);
    open.push(...(arrows.get(at) ?? []));
  }
  return reached;
}

/** Returns the drawing: Mermaid, with the arrows that do not follow from others. */
export function drawing(arrows: Map<string, Set<string>>): string {
  const lines = [...arrows].flatMap(([from, targets]) => {
    const implied = new Set([...targets].flatMap((to) => [...reachedFrom(arrows, to)]));
    if (implied.has(from)) throw new Error(`the folder ${from} imports itself by way of others`);
    return [...targets].filter((to) => !implied.has(to)).map((to) => `  ${from} --> ${to}`);
  });
  return ["```mermaid", "flowchart TD", ...lines.sort(), "```"].join("\n");
}

/** Returns the page with the drawing between its markers. Throws when the page lacks them. */
export function withDrawing(page: string, picture: string): string {
  const start = page.indexOf(OPENING);
  const end = page.indexOf(CLOSING);
  if (start < 0 || end < start) throw new Error("docs/ARCHITECTURE.md lacks the markers of its drawing");
  return `${page.slice(0, start)}${OPENING}\n${picture}\n${page.slice(end)}`;
}

if (import.meta.main) {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, withDrawing(page, drawing(importedFolders())));
}
