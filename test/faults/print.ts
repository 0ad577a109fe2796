// The bench as a table for a terminal, and as data for a program. It judges nothing.

import type { Outcome, Result } from "./bench.ts";
import { spentBy } from "./bench.ts";
import { generated, type Observed, wordsOf } from "./judge.ts";
import { priced } from "./price.ts";
import { stylesOf, titleOf } from "./rows.ts";

const COLUMNS = [
  "fault",
  "style",
  "how",
  "keys",
  "the client saw",
  "the key became",
  "tries",
  "charged",
  "basis",
  "provider's own",
  "verdict",
] as const;

type Line = Readonly<Record<(typeof COLUMNS)[number], string>>;

export function table({ results }: Outcome): string {
  const lines = results.map(lineOf);
  const widths = COLUMNS.map((column) =>
    Math.max(column.length, ...lines.map((line) => line[column].length)),
  );
  const said = (line: Line) =>
    COLUMNS.map((column, nth) => line[column].padEnd(widths[nth]!))
      .join("  ")
      .trimEnd();
  const head = Object.fromEntries(COLUMNS.map((column) => [column, column])) as Line;
  return [said(head), widths.map((width) => "─".repeat(width)).join("  "), ...lines.map(said)].join("\n");
}

/** The last lines: the sums, and everything that is wrong by name. */
export function summary({ results, wrong, verified, charged, ms }: Outcome): string {
  const failed = results.filter((one) => one.wrong.length > 0);
  const named = failed.flatMap(({ seen, wrong }) => wrong.map((what) => `  ${titleOf(seen.one)}: ${what}`));
  const { lines, commits, balances, minted } = verified.totals;
  return [
    `${results.length} cases in ${(ms / 1_000).toFixed(1)} s, ${failed.length} wrong. ` +
      `${lines} ledger lines in ${commits} commits; minted ${minted}, charged ${charged}, left ${balances} nano-dollars.`,
    ...(failed.length > 0 ? ["", "Wrong:", ...named] : []),
    ...(wrong.length > 0
      ? ["", "Wrong with all of them together:", ...wrong.map((what) => `  ${what}`)]
      : []),
    ...(failed.length + wrong.length === 0 ? ["Everything agrees."] : []),
  ].join("\n");
}

/** The same for a program: one object. */
export const data = (outcome: Outcome): object => ({
  cases: outcome.results.map((one) => ({
    ...lineOf(one),
    expected: one.seen.one.expected,
    wrong: one.wrong,
  })),
  wrong: outcome.wrong,
  charged: outcome.charged,
  ms: outcome.ms,
});

function lineOf({ seen, wrong }: Result): Line {
  const { one, response, keys, charges } = seen;
  return {
    fault: one.name,
    style: stylesOf(one),
    how: one.how,
    keys: String(one.keys),
    "the client saw": sawOf(seen),
    "the key became": keys[0] ?? "",
    tries: response.headers.get("x-arbor-attempts") ?? "",
    charged: String(spentBy(seen)),
    basis: charges[0]?.basis ?? "",
    "provider's own": ownOf(seen),
    verdict: wrong.length === 0 ? "green" : `WRONG (${wrong.length})`,
  };
}

function sawOf(seen: Observed): string {
  const { status, body, stream, text } = seen.response;
  const size = `${wordsOf(seen).length} words, ${Buffer.byteLength(text)} B`;
  if (stream === null) return status === 200 ? `200 ${size}` : `${status} ${body?.error?.code ?? "?"}`;
  const end = stream.closed ? "closed" : stream.error === null ? "broke off" : `then ${stream.error}`;
  return `${status} ${size}, ${end}`;
}

/** Returns what the call that answered cost, or the last one; empty where it delivered nothing, which costs nothing. */
function ownOf(seen: Observed): string {
  const { client } = seen.one.expected;
  const usage = generated(seen);
  if (usage === null) return "";
  return String(priced(usage, client.kind === "answer" ? client.reported : []));
}
