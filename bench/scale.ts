// `npm run bench:scale`: how lists, activation, bills and the start fare as accounts grow, and a ledger as its lines do. Prints
// a table of each, a column a size; exits 1 for a wrong answer, never for a slow one.

import { parseArgs } from "node:util";
import { verify } from "../src/report/verify/verify.ts";
import { openAudit } from "../src/store/open.ts";
import { WrongResult } from "./books.ts";
import { grouped, megabytes } from "./figures.ts";
import { type LedgerFigures, measuredLedger } from "./scale-ledger.ts";
import { type Figures, measured } from "./scale-measure.ts";
import { onScale } from "./scale-stage.ts";

const SIZES = [1_000, 10_000, 100_000];
const CHARGES = 1_000_000;
/** Lines of one ledger, about. */
const LEDGERS = [1_000, 1_000_000];
/** Up to so many ledger lines a store is verified whole. */
const VERIFIED = 200_000;

const USAGE = `npm run bench:scale -- [--quick] [--accounts N,N] [--charges N] [--ledgers N,N]

  --quick       1,000 and 10,000 accounts with 100,000 charges, ledgers of 1,000 and 100,000 lines
  --accounts    the sizes to measure (${SIZES.join(",")})
  --charges     of all accounts together (${CHARGES})
  --ledgers     the lines of one account (${LEDGERS.join(",")})

An empty list (--accounts=) leaves its table out.`;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    accounts: { type: "string" },
    charges: { type: "string" },
    ledgers: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

async function run(): Promise<void> {
  const sizes = sizesOf(values.accounts) ?? (values.quick ? SIZES.slice(0, 2) : SIZES);
  const charges = Number(values.charges ?? (values.quick ? 100_000 : CHARGES));
  const columns: Figures[] = [];
  await sound();
  for (const accounts of sizes) {
    const note = (text: string) => console.error(`${grouped(accounts)} accounts: ${text}`);
    note("filling");
    columns.push(
      await onScale({ accounts, charges }, async (stage) => {
        note(`filled in ${seconds(stage.fillMs)}`);
        return measured(stage, note);
      }),
    );
  }
  if (sizes.length > 0) console.log(table(sizes, columns));
  await ledgers(sizesOf(values.ledgers) ?? (values.quick ? [1_000, 100_000] : LEDGERS));
}

const sizesOf = (text: string | undefined): readonly number[] | undefined =>
  text?.split(",").filter(Boolean).map(Number);

/** Measures ledgers of one account and prints their table: a page, and the same with totals. */
async function ledgers(sizes: readonly number[]): Promise<void> {
  const columns: LedgerFigures[] = [];
  for (const charges of sizes) {
    console.error(`a ledger of ${grouped(charges)} lines`);
    const plan = { accounts: 1, charges, marks: "keys and tags" } as const;
    columns.push(await onScale(plan, (stage) => measuredLedger(stage, charges)));
  }
  if (columns.length === 0) return;
  const head = ["A page of 100 lines, with `totals`", ...sizes.map((size) => `${grouped(size)} lines`)];
  const rows = [...columns[0]!.keys()].map((what) => [
    what,
    ...columns.map((figures) => {
      const { pageMs, totalsMs } = figures.get(what)!;
      return `${ms(pageMs)}, ${ms(totalsMs)}`;
    }),
  ]);
  console.log(markdown([head, head.map(() => "---"), ...rows]));
}

/** A store that is made as the measured ones are, only smaller, has nothing wrong with it. */
async function sound(): Promise<void> {
  await onScale({ accounts: 1_000, charges: VERIFIED / 10 }, async ({ storePath }) => {
    const audit = await openAudit(`sqlite:${storePath}`);
    const { findings, findingCount, totals } = await verify(audit);
    await audit.close();
    console.error(
      `verified: ${totals.accounts} accounts, ${totals.lines} ledger lines, ${findingCount} findings`,
    );
    if (findingCount > 0)
      throw new WrongResult(
        findings
          .slice(0, 5)
          .map(({ where, what }) => `${where}: ${what}`)
          .join("\n"),
      );
  });
}

const ms = (value: number): string => `${value < 100 ? value.toFixed(1) : grouped(value)} ms`;
const seconds = (value: number): string => `${(value / 1_000).toFixed(1)} s`;
const mb = (value: number): string => `${megabytes(value)} MB`;
const tail = ({ p99, max }: { readonly p99: number; readonly max: number }): string =>
  `${p99.toFixed(1)}, ${max.toFixed(1)} ms`;

/** What each row says of a size. */
const ROWS: readonly (readonly [string, (figures: Figures) => string])[] = [
  ["Activation of a cold account", ({ activationMs }) => ms(activationMs)],
  ["`/x-money`, once a minute", ({ moneyMs }) => ms(moneyMs)],
  ["`/x-bill?days=30` of all, first byte", ({ bill }) => ms(bill.firstMs)],
  ["… last byte", ({ bill }) => `${ms(bill.lastMs)} (${mb(bill.bytes)})`],
  ["Another's status: p99, max", ({ quiet }) => tail(quiet.status)],
  ["… while bills are made", ({ besideBills }) => tail(besideBills.status)],
  ["Another's chat request: p99, max", ({ quiet }) => tail(quiet.chat)],
  ["… while bills are made", ({ besideBills }) => tail(besideBills.chat)],
  ["Start", ({ startMs }) => ms(startMs)],
  ["Memory of 20,000 last requests", ({ historyBytes }) => mb(historyBytes)],
  [
    "Memory at the start, before bills, most during bills, at the end",
    ({ rssIdle, rssQuiet, rssBills, rssAfter }) =>
      `${megabytes(rssIdle)}, ${megabytes(rssQuiet)}, ${megabytes(rssBills)}, ${mb(rssAfter)}`,
  ],
];

function table(sizes: readonly number[], columns: readonly Figures[]): string {
  const pages = Object.keys(columns[0]!.pages).map((name): (typeof ROWS)[number] => [
    `\`${name.replace(",", "`,")}`,
    (figures) => ms(figures.pages[name]!),
  ]);
  const head = ["", ...sizes.map((size) => `${grouped(size)} accounts`)];
  const rows = [...pages, ...ROWS].map(([name, show]) => [name, ...columns.map(show)]);
  return markdown([head, head.map(() => "---"), ...rows]);
}

const markdown = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");

if (values.help) console.log(USAGE);
else {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof WrongResult)) throw error;
    console.error(`bench: WRONG RESULT: ${error.message}`);
    process.exitCode = 1;
  }
}
