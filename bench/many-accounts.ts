// What a request costs when requests are spread over very many accounts, against a hundred: two services on stores of their
// own take turns. Before the first round each account is asked once, so that loading accounts is not measured, and both services
// are warmed up until their compilers have next to nothing left to do.

import { allowingRefusals, type Books } from "./books.ts";
import { CONCURRENCY, type Spent, spend } from "./cpu.ts";
import { grouped, median, range } from "./figures.ts";
import type { Target } from "./load.ts";
import type { Measure } from "./measure.ts";
import { inTurns, ratiosOf } from "./rounds.ts";
import { onStage, type Stage } from "./stage.ts";
import { FULL_WARM_UP, NO_WARM_UP, warmUp, warmUpNote } from "./warm-up.ts";

const FEW = 100;
const MANY = 20_000;
const MANY_QUICK = 2_000;
/** The accounts of either service stand below as many Owners, which make theirs at the same time. */
const OWNERS = 20;
/** One account makes up to 1,000 others in less than a minute. */
const ENV = { API_RPM: "1000000" };
const ASK = { stream: false };
/** Requests before the first round of a quick run, at least. */
const REQUESTS_MIN = 5_000;

export const manyAccounts: Measure = {
  name: "accounts",
  about: "CPU time per request over 20,000 accounts against 100",
  run: (quick) => {
    const many = quick ? MANY_QUICK : MANY;
    const options = { owners: OWNERS, env: ENV };
    return onStage({ ...options, accounts: FEW }, (fewStage) =>
      onStage({ ...options, accounts: many }, async (manyStage) => {
        const sides = [sideOf(manyStage, many), sideOf(fewStage, FEW)];
        const warmed: string[] = [];
        for (const { stage, accounts, load, spendFor } of sides) {
          await askEach(load, stage.serviceFor(accounts));
          const ended = await warmUp([stage.service], quick ? NO_WARM_UP : FULL_WARM_UP, spendFor);
          if (!quick) warmed.push(`${grouped(accounts)} accounts: ${warmUpNote(ended)}`);
        }
        const ms = quick ? 1_000 : 3_000;
        const [ofMany, ofFew] = await inTurns(
          sides.map((side) => () => side.spendFor(ms)),
          quick ? 3 : 12,
        );
        const ratios = ratiosOf(cpuOf(ofMany!), cpuOf(ofFew!));
        return {
          rows: [
            {
              what: `CPU per request, whole, ${grouped(many)} accounts against ${FEW}`,
              service: `${median(cpuOf(ofMany!)).toFixed(0)} µs`,
              passThrough: `${FEW} accounts: ${median(cpuOf(ofFew!)).toFixed(0)} µs`,
              result: `× ${median(ratios).toFixed(2)} (${range(ratios, 2)})`,
              target: "≤ 1.2",
              must: "≤ 1.5",
            },
          ],
          notes: [
            ...warmed,
            ...sides
              .filter((side) => side.refused() > 0)
              .map(
                (side) =>
                  `${grouped(side.accounts)} accounts: ${side.refused()} requests refused, the store was slow`,
              ),
          ],
        };
      }),
    );
  },
};

/** One of the two services, asked with all its accounts. */
function sideOf(stage: Stage, accounts: number) {
  const { load, refused } = allowingRefusals(stage.load);
  const spendFor = (ms: number) => spend(load, [stage.service], [stage.serviceFor(accounts)], ASK, ms);
  return { stage, accounts, load, refused, spendFor };
}

const askEach = (load: Books["load"], target: Target) =>
  load({
    targets: [target],
    ask: ASK,
    concurrency: CONCURRENCY,
    most: { requests: Math.max(target.keys.length, REQUESTS_MIN) },
    times: "none",
  });

const cpuOf = (rounds: readonly Spent[]): number[] => rounds.map(({ cpuUs }) => cpuUs);
