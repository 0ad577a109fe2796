// A share of a whole: a bar that is seen at a glance, and the figure.

import { type Nanos, percentOf, shareOf } from "../../api/amount.ts";

/** How much of `whole` a part is. */
export function Share({ part, whole }: { readonly part: Nanos | null; readonly whole: Nanos }) {
  if (part === null) return <>…</>;
  return (
    <span className="share">
      <span className="share-bar" aria-hidden="true">
        <span style={{ width: `${shareOf(part, whole) * 100}%` }} />
      </span>
      <span className="figure">{percentOf(part, whole) ?? "–"}</span>
    </span>
  );
}
