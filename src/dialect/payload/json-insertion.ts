// Sets fields of objects deep inside a JSON text; every other character stays. The text must be valid JSON, which the caller
// has parsed. Paths that lead to no object of the text are ignored.

import { type Child, childrenOf } from "./json-children.ts";
import { type Patch, skipSpace } from "./json-fields.ts";
import type { FieldInsertion } from "./payload.ts";

/** Returns the text with the fields set. No two insertions may mean the same object. */
export function withInsertions(text: string, insertions: readonly FieldInsertion[]): string {
  let sent = "";
  let at = 0;
  for (const { from, to, into } of patchesIn(text, skipSpace(text, 0), insertions)) {
    sent += text.slice(at, from) + into;
    at = to;
  }
  return sent + text.slice(at);
}

/** Returns the patches of the value that begins at `open`, in the order of the text. */
function patchesIn(text: string, open: number, insertions: readonly FieldInsertion[]): Patch[] {
  const children = childrenOf(text, open);
  const own = insertions.find(({ at }) => at.length === 0);
  if (own !== undefined) return text[open] === "{" ? [patchOf(open, children, own)] : [];
  const below = Map.groupBy(insertions, ({ at: [step] }) => step);
  return children.flatMap(({ name, from }) => {
    const further = below.get(name)?.map((one) => ({ ...one, at: one.at.slice(1) })) ?? [];
    return further.length === 0 ? [] : patchesIn(text, from, further);
  });
}

/** Returns the patch of one object: in place of the field's value, or as the first field. */
function patchOf(open: number, children: readonly Child[], { field, value }: FieldInsertion): Patch {
  const into = JSON.stringify(value);
  const old = children.find(({ name }) => name === field);
  if (old !== undefined) return { from: old.from, to: old.to, into };
  const more = children.length === 0 ? "" : ",";
  return { from: open + 1, to: open + 1, into: `${JSON.stringify(field)}:${into}${more}` };
}
