// `npm run soak`: hours in minutes. A mixed load against a service of its own, with its memory and descriptors sampled; at the
// end each ledger is compared with the prices that answers stated. Exits 1 when something was wrong or grew, 2 for a bad option.

import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { grouped, megabytes } from "./figures.ts";
import type { LivingHeap } from "./soak/heap-probe.ts";
import { RSS_PER_MINUTE_MAX } from "./soak/resources.ts";
import { type SoakResult, soak } from "./soak/run.ts";
import { machine, table } from "./table.ts";

const USAGE = `npm run soak -- [--minutes N] [--rate N] [--heap] [--help]

  --minutes N   how long, 30 without it; under 20 only what was wrong is judged, not what grew
  --rate N      requests a second, 40 without it
  --heap        collect all garbage every minute and show what is left, by type of object; growth is not judged`;
const SHOWN_FINDINGS = 20;
const SHOWN_TYPES = 15;
const SHOWN_SAMPLES = 30;

function print(result: SoakResult): void {
  const { requests, background, samples, growth, atRest, sums, verified } = result;
  const shown = (count: number) => (count === 0 ? "" : grouped(count));
  const rows = [...requests].map(([name, { answered, aborted, refused, wrong }]) => [
    name,
    ...[answered, aborted, refused, wrong].map(shown),
  ]);
  console.log(`\n${table(["requests", "answered", "broken off", "refused", "wrong"], rows)}`);
  console.log(
    `\n${table(
      ["beside them", "times"],
      [...background].sort().map(([name, n]) => [name, grouped(n)]),
    )}`,
  );
  const step = Math.max(1, Math.ceil(samples.length / SHOWN_SAMPLES));
  const looks = samples.filter((_, i) => i % step === 0 || i === samples.length - 1);
  console.log(
    `\n${table(
      ["minute", "resident memory", "its heap", "descriptors"],
      looks.map((one) => [
        one.minute.toFixed(1),
        `${megabytes(one.rssBytes)} MB`,
        one.heapBytes === null ? "" : `${megabytes(one.heapBytes)} MB`,
        String(one.descriptors),
      ]),
    )}`,
  );
  if (result.living.length > 1) printLiving(result.living);
  const usd = (nano: number) => `${(nano / 1e9).toFixed(9)} USD`;
  console.log(
    `\nanswers stated ${usd(sums.statedNano)}, answers that broke off cost ${usd(sums.brokenOffNano)}, ledgers say ${usd(sums.chargedNano)}`,
  );
  console.log(verified.trim());
  const [first, last] = growth.descriptors;
  console.log(
    `\nafter minute ${growth.fromMinute.toFixed(1)}: memory ${(growth.rssPerMinute / 1024 / 1024).toFixed(2)} MB a minute ` +
      `(at most ${(RSS_PER_MINUTE_MAX / 1024 / 1024).toFixed(0)}), descriptors ${first} and ${last}; ` +
      `at rest ${atRest[0]} before and ${atRest[1]} after${result.isJudged ? "" : ". Too short to judge growth"}`,
  );
  console.log(`${machine()} Load average at the end: ${loadavg()[0]!.toFixed(1)}.`);
}

/** What lived after each collection, and the types of which most came between the second and the last. */
function printLiving(living: readonly LivingHeap[]): void {
  const rows = living.map(({ bytes, extraBytes, rssBytes }, i) => [
    String(i + 1),
    ...[bytes, extraBytes, rssBytes].map((size) => `${megabytes(size)} MB`),
  ]);
  console.log(`\n${table(["minute", "living heap", "held outside of it", "resident memory"], rows)}`);
  const [early, late] = [living[Math.min(1, living.length - 2)]!.types, living.at(-1)!.types];
  const grown = Object.entries(late)
    .map(([type, count]) => ({ type, count, more: count - (early[type] ?? 0) }))
    .sort((a, b) => b.more - a.more)
    .slice(0, SHOWN_TYPES);
  const more = grown.map((one) => [one.type, grouped(one.count), grouped(one.more)]);
  console.log(`\n${table(["type of object", "at the end", "more than early"], more)}`);
}

const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    rate: { type: "string" },
    heap: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const minutes = Number(values.minutes ?? 30);
const perSecond = Number(values.rate ?? 40);

if (values.help) {
  console.log(USAGE);
} else if (!(minutes > 0 && minutes <= 1_440 && perSecond > 0 && perSecond <= 1_000)) {
  console.error(`soak: at most 1440 minutes and 1000 requests a second\n\n${USAGE}`);
  process.exitCode = 2;
} else {
  const result = await soak({ ms: minutes * 60_000, perSecond, heap: values.heap });
  print(result);
  const { findings, breaches } = result;
  for (const line of findings.slice(0, SHOWN_FINDINGS)) console.error(`WRONG: ${line.slice(0, 1_000)}`);
  if (findings.length > SHOWN_FINDINGS) console.error(`WRONG: ${findings.length - SHOWN_FINDINGS} more`);
  for (const line of breaches) console.error(`GREW: ${line}`);
  process.exitCode = findings.length + breaches.length > 0 ? 1 : 0;
}
