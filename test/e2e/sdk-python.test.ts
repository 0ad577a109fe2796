// The official Python SDKs, sync and async, against the service: each script of python/ runs once, through all scenarios;
// then every row of what it saw is held against what the provider says it generated and what the ledger says was paid.
// Without Python the tests are skipped, with a closing line that says so; with CI=true that is a failure.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Style } from "../../src/gateway/styles.ts";
import { announceSkipped } from "../skipped.ts";
import { type Bench, type Json, startBench, until } from "./harness.ts";
import { preparePython, runScript } from "./python.ts";
import { MODES, type Mode, SCENARIOS, type Scenario } from "./python-scenarios.ts";
import { billOf, type Customer, callsWith, customerOf, SETTINGS } from "./sdk-bench.ts";
import { type Arranged, arrange, TROUBLES } from "./troubles.ts";

const python = await preparePython();
const missing = python.ok ? null : python.reason;
if (missing !== null) announceSkipped("the tests of the Python SDKs", missing);

const STYLES: readonly Style[] = ["chat", "messages"];
const SCRIPTS: Readonly<Record<Style, string>> = { chat: "chat.py", messages: "messages.py" };

const COMMON = {
  400: "BadRequestError",
  401: "AuthenticationError",
  403: "PermissionDeniedError",
  404: "NotFoundError",
  409: "ConflictError",
  422: "UnprocessableEntityError",
  429: "RateLimitError",
  502: "InternalServerError",
};
/** By style and status; every status of the troubles must be here. */
const CLASSES: Readonly<Record<Style, Readonly<Record<number, string>>>> = {
  chat: { ...COMMON, 413: "APIStatusError", 503: "InternalServerError", 504: "InternalServerError" },
  messages: {
    ...COMMON,
    413: "ContentTooLargeError",
    503: "ServiceUnavailableError",
    504: "GatewayTimeoutError",
  },
};

interface Planned {
  readonly style: Style;
  readonly mode: Mode;
  readonly scenario: Scenario;
  customer?: Customer;
  seen?: Json;
}

const suits = ({ only = {} }: Scenario, style: Style, mode: Mode): boolean =>
  (only.style ?? style) === style && (only.mode ?? mode) === mode;

const PLAN: readonly Planned[] = STYLES.flatMap((style) =>
  MODES.flatMap((mode) =>
    SCENARIOS.filter((scenario) => suits(scenario, style, mode)).map((scenario) => ({
      style,
      mode,
      scenario,
    })),
  ),
);

interface PlannedTrouble {
  readonly style: Style;
  readonly mode: Mode;
  readonly trouble: (typeof TROUBLES)[number];
  arranged?: Arranged;
  seen?: Json;
}

const TROUBLE_PLAN: readonly PlannedTrouble[] = STYLES.flatMap((style) =>
  MODES.flatMap((mode) => TROUBLES.map((trouble) => ({ style, mode, trouble }))),
);

test.skipIf(missing !== null && process.env.CI !== "true")("Python and the pinned packages are here", () =>
  expect(missing).toBeNull(),
);

describe.skipIf(missing !== null)("the Python SDKs", () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench({ settings: SETTINGS });
    for (const one of PLAN) await prepare(bench, one);
    for (const one of TROUBLE_PLAN) one.arranged = await arrange(bench, one.style, one.trouble);
    await Promise.all(STYLES.map((style) => perform(bench, style)));
  }, 120_000);
  afterAll(() => bench.close());

  describe.each(STYLES)("%s", (style) => {
    test.each(
      PLAN.filter((one) => one.style === style).map((one) => [one.mode, one.scenario.tells, one] as const),
    )("%s: %s", async (_mode, _tells, { customer, scenario, seen }) => {
      expect(seen.broke).toBeUndefined();
      const { user, secret } = customer!;
      await until("the provider is done", () =>
        callsWith(bench, secret).every((call) => call.outcome !== null),
      );
      if (scenario.chargedLater) {
        await until("it is charged", async () => (await billOf(bench, user)).lines.length > 0);
      }
      scenario.expect({
        style,
        seen: seen.seen,
        calls: callsWith(bench, secret),
        ...(await billOf(bench, user)),
      });
    });

    test.each(
      TROUBLE_PLAN.filter((one) => one.style === style).map(
        (one) => [one.mode, one.trouble.status, one.trouble.name, one] as const,
      ),
    )("%s: %d, %s", async (_mode, status, _name, { arranged, seen }) => {
      const { type, code, cost } = arranged!;
      expect(seen).toMatchObject({ seen: { class: CLASSES[style][status], status, type, code } });
      expect(seen.seen.request_id).toMatch(/^\w{20,}$/);
      expect(await cost()).toBe(0);
    });
  });
});

async function prepare(bench: Bench, one: Planned): Promise<void> {
  one.customer = await customerOf(bench, one.style, one.scenario.account);
  const { behaves } = one.scenario;
  if (behaves !== undefined) bench.provider.behave(one.customer.secret, behaves, 1);
}

/** Runs a style's script through everything that is planned for it. */
async function perform(bench: Bench, style: Style): Promise<void> {
  if (!python.ok) return;
  const scenarios = PLAN.filter((one) => one.style === style);
  const troubles = TROUBLE_PLAN.filter((one) => one.style === style);
  const runs = [
    ...scenarios.map(({ mode, scenario, customer }) => ({
      scenario: scenario.scenario,
      mode,
      key: customer!.user.key,
      given: scenario.given,
    })),
    ...troubles.map(({ mode, arranged }) => ({
      scenario: "trouble",
      mode,
      key: arranged!.key,
      given: { model: arranged!.model, messages: arranged!.messages },
    })),
  ];
  const seen = await runScript(python.path, SCRIPTS[style], { url: bench.url, runs });
  for (const [i, one] of [...scenarios, ...troubles].entries()) one.seen = seen[i];
}
