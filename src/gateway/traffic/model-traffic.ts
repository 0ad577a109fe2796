// What a node counts of requests by model and Level: requests, failures, tokens, cost, and times of providers. Plain
// numbers, counted by every request and read by the metrics. It must never name an account or a key, and holds a
// bounded number of series: models and Levels beyond the bound share one series.

import type { ChargeFacts } from "../../../actors/account/state.ts";
import { Histogram } from "../../base/histogram.ts";
import { OTHER_LABEL } from "../model-label.ts";

/** Pairs of a model and a Level that are counted by themselves; all others are counted as one. */
export const MODEL_SERIES_MAX = 100;

/** Upper bounds of times until a provider's first event, and of whole attempts, in seconds. */
const FIRST_BOUNDS_S = [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];
const WHOLE_BOUNDS_S = [0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600];

/** The counts of one model at one Level. */
class ModelSeries {
  requests = 0;
  failures = 0;
  /** Failures for which no provider key could be used. */
  withoutKey = 0;
  promptTokens = 0;
  completionTokens = 0;
  costNano = 0;
  /** Seconds of the attempt that answered, until the first content of a stream, and until its end. */
  readonly first = new Histogram(FIRST_BOUNDS_S);
  readonly whole = new Histogram(WHOLE_BOUNDS_S);

  constructor(
    readonly model: string,
    readonly level: string,
  ) {}

  /** Counts a charge and the attempt that answered. */
  charged({ prompt, completion, cost, attempts }: ChargeFacts): void {
    this.promptTokens += prompt;
    this.completionTokens += completion;
    this.costNano += cost;
    const last = attempts[attempts.length - 1];
    if (last !== undefined) this.whole.observe(last.ms / 1_000);
  }
}

/** The counts of all models and Levels. */
export class ModelTraffic {
  readonly all: ModelSeries[] = [];
  private readonly byModel = new Map<string, Map<number, ModelSeries>>();
  private rest: ModelSeries | null = null;

  /** Returns how many requests ended because no provider key could be used, by Level, each Level from its first request on. */
  withoutKeyByLevel(): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const { level, withoutKey } of this.all) found.set(level, (found.get(level) ?? 0) + withoutKey);
    return found;
  }

  /** Returns the counts of a model at a Level, or those of all others when there are too many. */
  seriesOf(model: string, level: number): ModelSeries {
    return this.byModel.get(model)?.get(level) ?? this.open(model, level);
  }

  private open(model: string, level: number): ModelSeries {
    if (this.rest !== null) return this.rest;
    if (this.all.length === MODEL_SERIES_MAX) {
      this.rest = new ModelSeries(OTHER_LABEL, OTHER_LABEL);
      this.all.push(this.rest);
      return this.rest;
    }
    const series = new ModelSeries(model, String(level));
    this.all.push(series);
    const ofModel = this.byModel.get(model) ?? new Map<number, ModelSeries>();
    this.byModel.set(model, ofModel);
    ofModel.set(level, series);
    return series;
  }
}
