// What a request costs when requests are spread over very many accounts, against a hundred: two services on stores of their
// own take turns. Each account is asked once before the first round, so that loading accounts is not measured.

import { allowingRefusals, type Books } from "./books.ts";
import { CONCURRENCY, type Spent, spend } from "./cpu.ts";
import { grouped, median, range } from "./figures.ts";
import type { Target } from "./load.ts";
import type { Measure } from "./measure.ts";
import { inTurns, ratiosOf } from "./rounds.ts";
import { onStage } from "./stage.ts";

const FEW = 100;
const MANY = 20_000;
const MANY_QUICK = 2_000;
/** The accounts of either service stand below as many Owners, which make theirs at the same time. */
const OWNERS = 20;
/** One account makes up to 1,000 others in less than a minute. */
const ENV = { API_RPM: "1000000" };
const ASK = { stream: false };
/** Requests before the first round, at least. */
const WARM_UP = 5_000;

export const manyAccounts: Measure = {
  name: "accounts",
  about: "CPU time per request over 20,000 accounts against 100",
  run: (quick) => {
    const many = quick ? MANY_QUICK : MANY;
    const options = { owners: OWNERS, env: ENV };
    return onStage({ ...options, accounts: FEW }, (fewStage) =>
      onStage({ ...options, accounts: many }, async (manyStage) => {
        const sides = [
          { stage: manyStage, accounts: many, ...allowingRefusals(manyStage.load) },
          { stage: fewStage, accounts: FEW, ...allowingRefusals(fewStage.load) },
        ];
        for (const { stage, accounts, load } of sides) await askEach(load, stage.serviceFor(accounts));
        const ms = quick ? 1_000 : 3_000;
        const [ofMany, ofFew] = await inTurns(
          sides.map(
            ({ stage, accounts, load }) =>
              () =>
                spend(load, [stage.service], [stage.serviceFor(accounts)], ASK, ms),
          ),
          quick ? 3 : 6,
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
          notes: sides
            .filter((side) => side.refused() > 0)
            .map(
              (side) =>
                `${grouped(side.accounts)} accounts: ${side.refused()} requests refused, the store was slow`,
            ),
        };
      }),
    );
  },
};

const askEach = (load: Books["load"], target: Target) =>
  load({
    targets: [target],
    ask: ASK,
    concurrency: CONCURRENCY,
    most: { requests: Math.max(target.keys.length, WARM_UP) },
    times: "none",
  });

const cpuOf = (rounds: readonly Spent[]): number[] => rounds.map(({ cpuUs }) => cpuUs);
