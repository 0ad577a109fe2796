// The facts of a charge that the ledger keeps: all of them but what only decides the charge. They are listed instead of
// being what remains, because leaving fields out of a copy costs ten times the copy.

import type { ChargeFacts } from "./types.ts";

/** The facts of a charge as its ledger line has them. */
export type StoredFacts = Omit<ChargeFacts, "keep" | "delivered" | "isLast">;

type OptionalFact = {
  [K in keyof StoredFacts]-?: Record<never, never> extends Pick<StoredFacts, K> ? K : never;
}[keyof StoredFacts];

/** The facts that not every charge has. One that is missing here does not compile. */
const OPTIONAL: Readonly<Record<OptionalFact, true>> = {
  parts: true,
  answeredModel: true,
  idempotency: true,
  apiKey: true,
  apiKeyName: true,
  tags: true,
  costIn: true,
};
const OPTIONAL_NAMES = Object.keys(OPTIONAL) as OptionalFact[];

/** Returns a copy of the facts that the ledger keeps. */
export function storedFacts(facts: ChargeFacts): StoredFacts {
  const stored: { -readonly [K in keyof StoredFacts]: StoredFacts[K] } = {
    id: facts.id,
    request: facts.request,
    path: facts.path,
    asked: facts.asked,
    model: facts.model,
    level: facts.level,
    usage: facts.usage,
    prompt: facts.prompt,
    completion: facts.completion,
    cost: facts.cost,
    basis: facts.basis,
    price: facts.price,
    priceVersion: facts.priceVersion,
    admittedAt: facts.admittedAt,
    stream: facts.stream,
    attempts: facts.attempts,
  };
  for (const name of OPTIONAL_NAMES) copyFact(stored, facts, name);
  return stored;
}

function copyFact<K extends OptionalFact>(to: Pick<StoredFacts, K>, facts: StoredFacts, name: K): void {
  if (facts[name] !== undefined) to[name] = facts[name];
}
