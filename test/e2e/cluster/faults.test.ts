// A cluster under load while its parts die, freeze and lose each other: nothing lost, nothing double, limits exact, and all
// answered again in time. A short selection by default; all of it with E2E=all.

import { afterAll, expect, test } from "bun:test";
import { SCENARIOS } from "./scenarios.ts";
import { createCourt } from "./trial.ts";

const MOST_MS = 600_000;

const all = process.env.E2E === "all";
const chosen = SCENARIOS.filter(({ short }) => short === true || all);
const court = createCourt("a cluster under faults", all);
afterAll(court.close, 30_000);

test.each(chosen.map((scenario) => [scenario.name, scenario] as const))(
  "%s",
  async (_name, scenario) => {
    expect((await court.try(scenario)) ?? []).toEqual([]);
  },
  MOST_MS,
);
