// `npm run faults`: every fault of the stand-in through the service, as a table. Exit 1 with the wrong rows by name.

import { parseArgs } from "node:util";
import { runBench } from "./bench.ts";
import { data, summary, table } from "./print.ts";
import { casesOf } from "./rows.ts";
import { ROWS, unlisted } from "./table.ts";

const USAGE = `npm run faults -- [--only NAME] [--json] [--help]

  --only NAME  the rows of one fault, refusal or knob: cut, 429, usage=none, "cut how=fin"; may repeat
  --json       one object instead of the table`;

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

/** A name means its row, and all rows that add something to it: a cause, a value, an argument. */
const isMeant = (name: string, wanted: readonly string[]): boolean =>
  wanted.some((one) => name.startsWith(one) && [undefined, ".", "=", " "].includes(name[one.length]));

async function main(): Promise<number> {
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const { only } = values;
  const rows = only === undefined ? ROWS : ROWS.filter(({ name }) => isMeant(name, only));
  if (rows.length === 0) {
    console.error(`There is no row ${only?.join(", ")}.\n\n${USAGE}`);
    return 2;
  }
  const outcome = await runBench(casesOf(rows));
  const missing = unlisted();
  const all = { ...outcome, wrong: [...outcome.wrong, ...missing.map((name) => `${name} has no row`)] };
  if (values.json) console.log(JSON.stringify(data(all), null, 2));
  else console.log(`${table(all)}\n\n${summary(all)}`);
  return all.wrong.length + all.results.filter(({ wrong }) => wrong.length > 0).length > 0 ? 1 : 0;
}

process.exit(await main());
