// What applications speak with the service: the makers' SDKs in both languages and two frameworks. Each client goes through all
// of its scenarios once; then every row of what it saw is held against what the provider says it generated and what the ledger
// says was paid. Without Python its rows are skipped, with a closing line that says so; with CI=true that is a failure.

import { beforeAll, describe, expect, test } from "bun:test";
import { HERE, pythonClients } from "./sdk/clients.ts";
import { CONDUCT } from "./sdk/conduct-rows.ts";
import { SETTINGS } from "./sdk/customers.ts";
import { ENDPOINTS } from "./sdk/endpoint-rows.ts";
import { carryOut, leftBy, planOf, troublesOf } from "./sdk/plan.ts";
import { TALK } from "./sdk/talk-rows.ts";
import { classOf } from "./sdk/trouble-classes.ts";
import { useBench } from "./use-bench.ts";
import { usePython } from "./use-python.ts";

const python = await usePython("the tests of the Python SDKs");

const CLIENTS = [...HERE, ...(python === null ? [] : pythonClients(python))];
const PLAN = CLIENTS.flatMap((client) => planOf(client, [...TALK, ...CONDUCT, ...ENDPOINTS]));
const TROUBLE_PLAN = CLIENTS.flatMap(troublesOf);

const bench = useBench({ settings: SETTINGS });
beforeAll(async () => {
  await carryOut(bench, PLAN, TROUBLE_PLAN);
}, 120_000);

describe.each(CLIENTS.map(({ name }) => name))("%s", (name) => {
  const plan = PLAN.filter(({ client }) => client.name === name);
  test.each(plan.map((one) => [one.route, one.row.description, one] as const))(
    "%s: %s",
    async (_, _description, one) => {
      expect(one.seen?.broke).toBeUndefined();
      one.row.expect(await leftBy(bench, one));
    },
  );

  const troubles = TROUBLE_PLAN.filter(({ client }) => client.name === name);
  if (troubles.length === 0) return;
  test.each(
    troubles.map((one) => [one.route, one.trouble.status, one.trouble.name, one.scenario, one] as const),
  )("%s: %d, %s (%s)", async (_, status, _name, _scenario, { client, seen, arranged }) => {
    const { type, code, cost } = arranged!;
    expect(seen?.broke).toBeUndefined();
    expect(seen?.seen).toMatchObject({ class: classOf(client.name, status), status, type, code });
    if ("request_id" in seen!.seen) expect(seen!.seen.request_id).toMatch(/^\w{20,}$/);
    expect(await cost()).toBe(0);
  });
});
