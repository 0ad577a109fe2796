// Reads sources into their syntax trees, and finds every mutation that they admit. Comments, texts, types and imports are
// never touched: what is changed is what the compiler sees as an expression or a statement.

import { Glob } from "bun";
import { type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import { skipTrivia } from "typescript/unstable/ast/scanner";
import { visitSyntaxTrees } from "../syntax-trees.ts";
import { type Candidate, changesOf, isPassedOver } from "./kinds.ts";

/** Paths of the sources below a root, in an order that never changes. */
export const sourcePaths = (root: string): string[] =>
  [...new Glob("{actors,src}/**/*.ts").scanSync(root)].sort();

/** Every mutation of these files, in the order of their lines. */
export async function candidatesIn(root: string, paths: readonly string[]): Promise<Candidate[]> {
  const found: Candidate[] = [];
  await visitSyntaxTrees(root, paths, ({ path, text, tree }) => {
    found.push(...candidatesOf(path, text, tree));
  });
  return found;
}

function candidatesOf(file: string, text: string, tree: SourceFile): Candidate[] {
  const lines = text.split("\n");
  const starts: number[] = [0];
  for (const line of lines) starts.push(starts.at(-1)! + line.length + 1);
  const startOf = (node: Node) => skipTrivia(text, node.pos);
  const textOf = (node: Node) => text.slice(startOf(node), node.end);
  const found: Candidate[] = [];

  function visit(node: Node, within: string): void {
    if (isPassedOver(node)) return;
    const inner = nameOf(node, textOf) ?? within;
    for (const { kind, start, before, after } of changesOf(node, startOf, textOf)) {
      const at = starts.findLastIndex((one) => one <= start);
      const line = lines[at]!;
      const column = start - starts[at]!;
      const alone = line.trim() === before;
      if (text.slice(start, start + before.length) !== before || (kind === "statement" && !alone)) continue;
      const nth = line.slice(0, column).split(before).length - 1;
      const around = { above: (lines[at - 1] ?? "").trim(), below: (lines[at + 1] ?? "").trim() };
      found.push({
        file,
        kind,
        before,
        after,
        text: line.trim(),
        ...around,
        within: inner,
        nth,
        line: at + 1,
        start,
      });
    }
    node.forEachChild((child) => visit(child, inner));
  }
  visit(tree, "");
  return found.sort((a, b) => a.start - b.start);
}

const NAMED: readonly SyntaxKind[] = [
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.ClassDeclaration,
  SyntaxKind.VariableDeclaration,
  SyntaxKind.PropertyAssignment,
];

function nameOf(node: Node, textOf: (node: Node) => string): string | null {
  const { name } = node as Node & { name?: Node };
  return NAMED.includes(node.kind) && name?.kind === SyntaxKind.Identifier ? textOf(name) : null;
}

/** The text with the mutation in it. Null: it would not parse. */
export function mutated(text: string, { start, before, after }: Candidate): string | null {
  const changed = text.slice(0, start) + after + text.slice(start + before.length);
  try {
    new Bun.Transpiler({ loader: "ts" }).transformSync(changed);
    return changed;
  } catch {
    return null;
  }
}
