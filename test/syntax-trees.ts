// Parses sources into syntax trees with the compiler that also checks the types. It resolves no import and reports no error:
// what a tree means is decided by the callers.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SourceFile } from "typescript/unstable/ast";
import { API } from "typescript/unstable/async";

/** A source file: its path below the root, its text and its syntax tree. */
export interface SyntaxTree {
  readonly path: string;
  readonly text: string;
  readonly tree: SourceFile;
}

/** Calls `visit` with each of these files in turn. A tree is valid only during its call, because its text belongs to the compiler. */
export async function visitSyntaxTrees(
  root: string,
  paths: readonly string[],
  visit: (file: SyntaxTree) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "arborgate-syntax-"));
  const config = join(folder, "tsconfig.json");
  const compilerOptions = {
    noLib: true,
    noResolve: true,
    types: [],
    noEmit: true,
    target: "ESNext",
    module: "Preserve",
  };
  writeFileSync(config, JSON.stringify({ compilerOptions, files: paths.map((path) => join(root, path)) }));
  const api = new API({ cwd: root });
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [config] });
    const [project] = snapshot.getProjects();
    for (const path of paths) {
      const tree = await project!.program.getSourceFile(join(root, path));
      if (tree === undefined) throw new Error(`${path} cannot be read`);
      visit({ path, text: readFileSync(join(root, path), "utf8"), tree });
    }
  } finally {
    await api.close();
    rmSync(folder, { recursive: true });
  }
}
