// What traces cost: four services take turns, two without traces, one with 1 % of the requests sampled, and one with all of
// them. The second without traces is the control: how far it is from the first is what two equal services differ by here. The
// collector is this process, so that its work is not counted; it counts the spans that arrive.
//
// Before the rounds each service answers requests that their client has sampled. At 1 % the code of spans would otherwise not
// be compiled before the measure is over, and ten times as slow as in a service that has run for an hour.

import { CONCURRENCY, type Spent, spend } from "./cpu.ts";
import { grouped, median, range } from "./figures.ts";
import type { Measure, Measured } from "./measure.ts";
import { inTurns, ratiosOf } from "./rounds.ts";
import { onStage, type Stage } from "./stage.ts";

const ROUNDS = 7;
const ROUND_MS = 3_000;
const QUICK = { rounds: 3, ms: 1_000 };
const WARM_UP_REQUESTS = 15_000;
/** The context of a client that has sampled its request (W3C Trace Context). */
const SAMPLED = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
const KINDS = [
  { what: "whole", ask: { stream: false } },
  { what: "stream of 100 events", ask: { stream: true } },
] as const;
const SHARE = 0.01;

export const traces: Measure = {
  name: "traces",
  about: "CPU time per request with traces of 1 % and of all requests, against none, beside a control",
  isLong: true,
  run: async (quick) => {
    let spans = 0;
    const collector = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        spans += (await request.text()).split('"spanId"').length - 1;
        return Response.json({});
      },
    });
    const traced = (share: number) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.origin,
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: String(share),
    });
    try {
      return await onStage({}, (off) =>
        onStage({}, (control) =>
          onStage({ env: traced(SHARE) }, (some) =>
            onStage({ env: traced(1) }, async (all) => {
              const measured = await compare({ off, control, some, all }, quick);
              return { ...measured, notes: [`${grouped(spans)} spans exported`] };
            }),
          ),
        ),
      );
    } finally {
      collector.stop(true);
    }
  },
};

interface Stages {
  readonly off: Stage;
  /** Without traces too. */
  readonly control: Stage;
  readonly some: Stage;
  readonly all: Stage;
}

async function compare({ off, control, some, all }: Stages, quick: boolean): Promise<Pick<Measured, "rows">> {
  const stages = [off, control, some, all];
  const { rounds, ms } = quick ? QUICK : { rounds: ROUNDS, ms: ROUND_MS };
  for (const stage of stages) {
    const most = { requests: quick ? CONCURRENCY : WARM_UP_REQUESTS };
    for (const headers of [SAMPLED, {}]) {
      const targets = [{ ...stage.serviceFor(1), headers }];
      await stage.load({ targets, ask: KINDS[0].ask, concurrency: CONCURRENCY, most, times: "none" });
    }
  }
  const rows: Measured["rows"][number][] = [];
  for (const { what, ask } of KINDS) {
    const figures = await inTurns(
      stages.map((stage) => () => spend(stage.load, [stage.service], [stage.serviceFor(1)], ask, ms)),
      rounds,
    );
    const [none, same, sampled, every] = figures.map(cpuOf);
    const spread = range(ratiosOf(same!, none!), 2);
    const row = (name: string, cpu: readonly number[], must: string) => ({
      what: `CPU per request, ${what}, ${name}`,
      service: `${median(cpu).toFixed(0)} µs`,
      passThrough: `without: ${median(none!).toFixed(0)} µs`,
      result: `× ${median(ratiosOf(cpu, none!)).toFixed(2)} (${range(ratiosOf(cpu, none!), 2)})`,
      target: "",
      must,
    });
    rows.push(row("the control, without traces", same!, ""));
    rows.push(row("traces of 1 %", sampled!, `the median within the range of the control: ${spread}`));
    rows.push(row("traces of all", every!, ""));
  }
  return { rows };
}

const cpuOf = (rounds: readonly Spent[]): number[] => rounds.map(({ cpuUs }) => cpuUs);
