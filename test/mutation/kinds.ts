// What a mutation is, and which ones a node of the syntax tree admits. Each changes a part of one line and is described by
// words, not by positions, so that it can be found again in sources that have moved (locate.ts).

import { type Node, SyntaxKind } from "typescript/unstable/ast";

export const KINDS = ["operator", "constant", "code", "statement"] as const;
export type Kind = (typeof KINDS)[number];

export interface Mutation {
  readonly file: string;
  readonly kind: Kind;
  readonly before: string;
  readonly after: string;
  /** The whole line, trimmed, and the lines around it. */
  readonly text: string;
  readonly above: string;
  readonly below: string;
  /** Name of the innermost named function, method or constant around it; empty at the top. */
  readonly within: string;
  /** Which of the same `before` on this line, from 0. */
  readonly nth: number;
  /** From 1. */
  readonly line: number;
}

/** A mutation and its place in the text that was read. */
export interface Candidate extends Mutation {
  readonly start: number;
}

/** A change of a part of a node: where it starts and what takes its place. */
export interface Change {
  readonly kind: Kind;
  readonly start: number;
  readonly before: string;
  readonly after: string;
}

const OPERATORS: Readonly<Record<string, string>> = {
  ...{ "<": "<=", "<=": "<", ">": ">=", ">=": ">", "===": "!==", "!==": "===" },
  ...{ "+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "+=": "-=", "-=": "+=" },
  ...{ "&&": "||", "||": "&&", "??": "&&" },
};

/** A word of the protocol such as `rpm_exceeded`. */
const CODE = /^"[a-z]+(_[a-z]+)+"$/;
const NUMBER = /^\d[\d_]*(\.\d+)?$/;
/** One whole line: a call, an assignment, or a guard. */
const GUARD = /^if \(.*\) (return\b.*|throw .*|continue|break);$/;
const EFFECT = /^(await |void |delete )?[\w.!?[\]#"]+(\(.*\)|\+\+|--| [-+*/|&?]*= .*);$/;

const isText = (node: Node): boolean =>
  node.kind === SyntaxKind.StringLiteral ||
  node.kind === SyntaxKind.TemplateExpression ||
  node.kind === SyntaxKind.NoSubstitutionTemplateLiteral;

/** Types and imports are no behaviour: nothing below these is looked at. */
export const isPassedOver = ({ kind }: Node): boolean =>
  (kind >= SyntaxKind.FirstTypeNode && kind <= SyntaxKind.LastTypeNode) ||
  [
    SyntaxKind.ImportDeclaration,
    SyntaxKind.InterfaceDeclaration,
    SyntaxKind.TypeAliasDeclaration,
    SyntaxKind.TypeParameter,
  ].includes(kind);

/** `textOf` answers a node's own text and `startOf` where that begins. */
export function changesOf(
  node: Node,
  startOf: (node: Node) => number,
  textOf: (node: Node) => string,
): Change[] {
  const change = (kind: Kind, before: string, after: string, at: Node = node): Change[] => [
    { kind, start: startOf(at), before, after },
  ];
  const text = textOf(node);
  switch (node.kind) {
    case SyntaxKind.BinaryExpression: {
      const { left, operatorToken, right } = node as Node & { left: Node; operatorToken: Node; right: Node };
      const before = textOf(operatorToken);
      const after = OPERATORS[before];
      // Texts are joined by the same sign.
      if (after === undefined || (before.startsWith("+") && (isText(left) || isText(right)))) return [];
      return change("operator", before, after, operatorToken);
    }
    case SyntaxKind.PrefixUnaryExpression:
      return text.startsWith("!") || text.startsWith("-") ? change("operator", text.slice(0, 1), "") : [];
    case SyntaxKind.TrueKeyword:
      return change("constant", "true", "false");
    case SyntaxKind.FalseKeyword:
      return change("constant", "false", "true");
    case SyntaxKind.NumericLiteral:
      return NUMBER.test(text) ? change("constant", text, String(Number(text.replaceAll("_", "")) + 1)) : [];
    case SyntaxKind.StringLiteral:
      return CODE.test(text) ? change("code", text, `${text.slice(0, -1)}_x"`) : [];
    case SyntaxKind.ExpressionStatement:
      return EFFECT.test(text) ? change("statement", text, ";") : [];
    case SyntaxKind.IfStatement:
      return GUARD.test(text) ? change("statement", text, ";") : [];
    default:
      return [];
  }
}
