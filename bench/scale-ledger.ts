// What is measured of one account with a long ledger: a page by each filter, pages that are far, and totals. Throws WrongResult for an
// answer that is not what was stored; a slow one is only written down.

import { DAY_MS } from "../actors/time.ts";
import { WrongResult } from "./books.ts";
import { median } from "./figures.ts";
import { DAYS } from "./scale-charges.ts";
import { get } from "./scale-measure.ts";
import type { ScaleStage } from "./scale-stage.ts";
import { keyOf } from "./scale-store.ts";

/** Milliseconds by what was asked for: of a page, and of the same page with totals. */
export type LedgerFigures = ReadonlyMap<string, { readonly pageMs: number; readonly totalsMs: number }>;

const SAMPLES = 15;
const SIZE = 100;
/** The projection of a million lines takes a minute or two. */
const PROJECTED_MS = 900_000;

interface Page {
  readonly lines: readonly { readonly created_at: string; readonly model: string }[];
  readonly count?: number | null;
}

/** A question, and how many lines pass; null where that is not known beforehand. */
type Question = readonly [what: string, query: string, count: number | null];

/** Measures the ledger of the only account of a stage, which has `charges` charges and one line of credit. */
export async function measuredLedger(stage: ScaleStage, charges: number): Promise<LedgerFigures> {
  const account = stage.filled.ids[0]!;
  const ask = async (query: string): Promise<{ readonly ms: number; readonly page: Page }> => {
    const { ms, text } = await get(stage, `/dashboard/ledger?size=${SIZE}&${query}`, keyOf(account));
    return { ms, page: JSON.parse(text) as Page };
  };
  const timed = async (query: string, count: number | null): Promise<number> => {
    const samples: number[] = [];
    for (let nth = 0; nth < SAMPLES; nth++) {
      const { ms, page } = await ask(query);
      // Lines that are not counted in time are slow, not wrong.
      if (count !== null && (page.count ?? count) !== count)
        throw new WrongResult(`${query}: ${page.count} lines, not ${count}`);
      samples.push(ms);
    }
    return median(samples);
  };

  const until = performance.now() + PROJECTED_MS;
  while ((await ask("type=charge&api_key=0&totals=true")).page.count !== Math.ceil(charges / 3)) {
    if (performance.now() > until) throw new WrongResult("the lines were not projected in time");
    await Bun.sleep(1_000);
  }
  const newest = (await ask("")).page.lines[0]!;
  const figures = new Map<string, { pageMs: number; totalsMs: number }>();
  for (const [what, query, count] of questions(account, charges, newest)) {
    const pageMs = await timed(query, null);
    figures.set(what, { pageMs, totalsMs: await timed(`${query}&totals=true`, count) });
  }
  return figures;
}

function questions(account: number, charges: number, newest: Page["lines"][number]): readonly Question[] {
  const day = (ago: number): string => new Date(Date.parse(newest.created_at) - ago * DAY_MS).toISOString();
  const ofKey = Math.floor((charges + 1) / 3);
  const model = encodeURIComponent(newest.model);
  return [
    ["no filter", "", charges + 1],
    ["`from`, `to`: a week in the middle", `from=${day(DAYS / 2 + 7)}&to=${day(DAYS / 2)}`, null],
    ["`type=charge`", "type=charge", charges],
    ["`type=transfer_in`: the oldest line", "type=transfer_in", 1],
    ["`model`: a third", `model=${model}`, null],
    ["`model` and `type=charge`", `type=charge&model=${model}`, null],
    ["`model`: none", "model=nobody", 0],
    ["`api_key`: a third", "api_key=1", ofKey],
    ["`tag`: a tenth", "tag=team:team-7", Math.floor((charges + 2) / 10)],
    ["`request`: one", `request=scale-${account}-17`, 1],
    [
      "five of them",
      `type=charge&model=${model}&api_key=${(charges - 1) % 3}&tag=env:prod&from=${day(7)}`,
      null,
    ],
    ["`api_key`: page 3, reached at once", "api_key=1&page=3", ofKey],
    ["`api_key`: the last page, reached at once", `api_key=1&page=${Math.ceil(ofKey / SIZE)}`, ofKey],
  ];
}
