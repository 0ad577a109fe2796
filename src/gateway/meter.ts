// What an answer used: the provider's figures where they make sense, else counted; and what that costs.
// One reducer for whole and streamed answers, so that the same answer is never priced two ways.

import { modelNamed } from "../../actors/catalogue.ts";
import { type Charge, cost } from "../../actors/cost.ts";
import { type Basis, completionTokens, NO_USAGE, promptTokens, type Usage } from "../../actors/usage.ts";
import { readUsage, type UsageDialect } from "../dialect/usage.ts";
import type { Admission } from "./admission.ts";
import type { TokenCounter } from "./tokens.ts";

/** What was read of an answer, whole or streamed, to its end or not. */
export interface Reading {
  readonly dialect: UsageDialect;
  /** The provider's last usage as it came; null: none. */
  readonly usage: unknown;
  readonly serviceTier: string | null;
  /** Everything generated, for counting. */
  readonly texts: readonly string[];
  /** The provider ended the answer normally. */
  readonly complete: boolean;
  /** The prompt's texts, for counting. */
  readonly prompt: () => readonly string[];
}

export interface Metered {
  readonly usage: Usage;
  readonly basis: Basis;
  readonly charge: Charge;
}

export async function meter(admission: Admission, reading: Reading, counter: TokenCounter): Promise<Metered> {
  const { usage, basis } = await used(admission, reading, counter);
  const { route } = admission;
  const charge = cost(route.priced, usage, { ...route.multipliers, tier: reading.serviceTier });
  return { usage, basis, charge };
}

async function used(
  admission: Admission,
  reading: Reading,
  counter: TokenCounter,
): Promise<{ usage: Usage; basis: Basis }> {
  const model = modelNamed(admission.route.model);
  const limit = Math.max(model?.max_output_tokens ?? 0, admission.size.maxOutput ?? 0);
  const stated = readUsage(reading.dialect, reading.usage, {
    contextWindow: model?.context_window ?? 0,
    outputLimit: limit * admission.size.n,
  });
  if (reading.complete) {
    // What is missing or zero is not for free: it is counted. An answer may be empty, a prompt is not.
    const said = stated !== null && (completionTokens(stated) > 0 || reading.texts.length === 0);
    if (said && promptTokens(stated) > 0) return { usage: stated, basis: "provider" };
    return { usage: await counted(stated, reading, counter), basis: "estimate" };
  }
  return { usage: await counted(stated, reading, counter), basis: "partial" };
}

/** The prompt as the provider stated it, else counted; the output as far as it was delivered, and no less than stated. */
async function counted(stated: Usage | null, reading: Reading, counter: TokenCounter): Promise<Usage> {
  const output = await counter.count(reading.texts);
  const from = stated ?? NO_USAGE;
  const outText = from.outText + Math.max(0, output - completionTokens(from));
  if (promptTokens(from) > 0) return { ...from, outText };
  return { ...from, inText: await counter.count(reading.prompt()), outText };
}
