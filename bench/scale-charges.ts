// What the accounts of a large store have used: so many charges each, over thirty days, three models to an account, the
// same on every run. It also knows what they add up to, which is what a bill must say.

import type { ChargeFacts } from "../actors/account/state.ts";
import type { AccountId } from "../actors/ids.ts";
import type { PriceNumbers } from "../actors/pricing/cost.ts";
import { recompute } from "../actors/pricing/cost-parts.ts";
import { completionTokens, NO_USAGE, promptTokens } from "../actors/pricing/usage.ts";
import { DAY_MS } from "../actors/time.ts";

/** Days that have charges: the first begins a day after the accounts were made. */
export const DAYS = 30;
/** Charges that one flush of an account stores together. */
const PER_COMMIT = 2;
const MODELS = [
  ...["gpt-4o", "gpt-4o-mini", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano", "o3"],
  ...["o4-mini", "gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-3.5-turbo", "o1"],
];
const MODELS_EACH = 3;

/** Sums over all charges made; `cost` in nano-dollars. */
export interface Used {
  requests: number;
  cost: bigint;
}

/** Whether charges carry API keys and tags, by which ledgers are filtered. */
export type Marks = "none" | "keys and tags";

/** The charges of an account by commit: when, and what. Adds them to `used`. */
export function* chargesOf(
  id: AccountId,
  count: number,
  bornAt: number,
  { used, marks }: { readonly used: Used; readonly marks: Marks },
): Generator<{ readonly at: number; readonly charges: readonly ChargeFacts[] }> {
  const commits = Math.ceil(count / PER_COMMIT);
  for (let nth = 0; nth < commits; nth++) {
    // Spread over the days, and where there are fewer commits than days, over other days for other accounts.
    const part = (nth + (id % 6) / 6) / commits;
    const at = Math.floor(bornAt + DAY_MS * (1 + part * (DAYS - 1)));
    const first = nth * PER_COMMIT;
    const charges = Array.from({ length: Math.min(PER_COMMIT, count - first) }, (_, i) => ({
      ...chargeOf(id, first + i, at),
      ...(marks === "none" ? {} : marksOf(first + i)),
    }));
    for (const { cost } of charges) {
      used.requests++;
      used.cost += BigInt(cost);
    }
    yield { at, charges };
  }
}

/** The main key, or one of two others; a team, of ten. */
function marksOf(nth: number): Pick<ChargeFacts, "apiKey" | "apiKeyName" | "tags"> {
  const key = nth % 3;
  return {
    ...(key === 0 ? {} : { apiKey: key as NonNullable<ChargeFacts["apiKey"]>, apiKeyName: `key-${key}` }),
    tags: { team: `team-${nth % 10}`, env: "prod" },
  };
}

function chargeOf(account: AccountId, nth: number, at: number): ChargeFacts {
  const id = `scale-${account}-${nth}`;
  const model = MODELS[(account + (nth % MODELS_EACH) * 5) % MODELS.length]!;
  const usage = {
    ...NO_USAGE,
    inText: 200 + ((account * 7 + nth * 13) % 900),
    inCached: (nth % 4) * 100,
    outText: 50 + ((account + nth * 3) % 400),
  };
  const price: PriceNumbers = {
    group: "ChatPricing",
    name: model,
    prices: { InputText: 0.15, CachedText: 0.075, OutputText: 0.6 },
    multipliers: { model: 1, rates: 1, factor: 1 },
  };
  return {
    id,
    request: id,
    path: "/v1/chat/completions",
    asked: model,
    model,
    level: 1,
    usage,
    prompt: promptTokens(usage),
    completion: completionTokens(usage),
    cost: recompute(usage, price),
    basis: "provider",
    price,
    priceVersion: 1,
    admittedAt: at - 1_000,
    stream: false,
    attempts: [
      {
        key: 1 as ChargeFacts["attempts"][number]["key"],
        level: 1,
        model,
        status: 200,
        signal: "ok",
        ms: 900,
      },
    ],
  };
}
