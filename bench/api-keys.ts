// CPU time of a whole request by the key that asks: the main key of an account without others, a capped key, and the main key
// beside the most named keys that an account may have. The three take turns, each on an account of its own.

import { API_KEYS_MAX } from "../actors/api-key/api-key.ts";
import { spend } from "./cpu.ts";
import { median, range } from "./figures.ts";
import { WHOLE } from "./kinds.ts";
import type { Measure, Row } from "./measure.ts";
import { inTurns, ratiosOf } from "./rounds.ts";
import { onStage } from "./stage.ts";

/** Caps that no load of a measure reaches, so that each is checked and none refuses. */
const CAPPED = { Name: "capped", HardLimit: 900, DailyLimit: 900, RPM: 1e9, TPM: 1e12, AllowModels: "gpt-*" };

export const apiKeys: Measure = {
  name: "api-keys",
  about: "CPU time per request by API key: main, capped, and main beside 200 named keys",
  run: (quick) =>
    onStage({ accounts: 3 }, async ({ load, service, serviceFor, withApiKey }) => {
      const { url, keys } = serviceFor(3);
      for (let nth = 1; nth <= API_KEYS_MAX; nth++) await withApiKey(2, { Name: `named-${nth}` });
      const targets = [{ url, keys: [keys[0]!] }, await withApiKey(1, CAPPED), { url, keys: [keys[2]!] }];
      const ms = quick ? 1_000 : 3_000;
      const sides = targets.map((target) => () => spend(load, [service], [target], WHOLE, ms));
      const [main, ...others] = (await inTurns(sides, quick ? 4 : 8)).map((rounds) =>
        rounds.map(({ cpuUs }) => cpuUs),
      );
      const rows = others.map((figures, nth): Row => {
        const ratios = ratiosOf(figures, main!);
        return {
          what: `CPU per request, ${["a capped key", "the main key beside 200 named keys"][nth]}`,
          service: `${median(figures).toFixed(0)} µs`,
          passThrough: `main key: ${median(main!).toFixed(0)} µs`,
          result: `× ${median(ratios).toFixed(2)} (${range(ratios, 2)})`,
          target: "× 1 within the spread",
        };
      });
      return { rows, notes: [] };
    }),
};
