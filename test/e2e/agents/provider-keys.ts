// The provider keys that agent programs meet in these tests, one of each kind, and what an account with such a key is charged
// against what the stand-in says it generated. Asserts nothing.

import type { Call } from "../../provider/calls.ts";
import { type Account, type Bench, MODEL, type Owner } from "../harness.ts";
import { callsWith } from "../sdk/customers.ts";
import type { Speaks } from "./loop.ts";

/** What the provider of a key can be asked for; of `chat` and `messages` that alone. */
export type KeyKind = Speaks;

const CONFIGS: Readonly<Record<KeyKind, object>> = {
  responses: { api_style: "chat" },
  chat: { api_style: "chat", responses: false },
  messages: { api_style: "messages" },
};

/** The pairs of a path and a kind of key: all but chat completions and messages at a key for responses alone, which there is not. */
export const SERVED: readonly (readonly [Speaks, KeyKind])[] = [
  ["responses", "responses"],
  ["responses", "chat"],
  ["responses", "messages"],
  ["chat", "chat"],
  ["chat", "messages"],
  ["messages", "chat"],
  ["messages", "messages"],
];

/** US dollars for a million tokens, and the same in nano-dollars for one token. */
const PRICE = { InputText: 1.37, OutputText: 7.09, CachedText: 0.41 };
const TOKEN_NANO = { input: 1_370, output: 7_090, cached: 410 };
/** A search of the web costs a cent where nobody priced it. */
const SEARCH_NANO = 10_000_000;

export interface Customer {
  readonly owner: Owner;
  readonly user: Account;
  /** The calls that its provider key made, oldest first. */
  calls(): Call[];
}

/** An Owner with one key of a kind, `models` priced, and an account that asks. */
export async function customerWith(
  bench: Bench,
  kind: KeyKind,
  models: readonly string[] = [MODEL],
): Promise<Customer> {
  const pricing = { ChatPricing: Object.fromEntries(models.map((model) => [model, PRICE])) };
  const owner = await bench.owner({ keys: 0, pricing });
  const [key] = await bench.level(owner, 1, 1, { Config: CONFIGS[kind] });
  return { owner, user: await bench.subaccount(owner), calls: () => callsWith(bench, key!.secret) };
}

/** What a call is worth by the stand-in's own count, in nano-dollars. */
export const worthOf = ({ usage }: Call): number =>
  usage === null
    ? 0
    : (usage.prompt - usage.cached) * TOKEN_NANO.input +
      usage.cached * TOKEN_NANO.cached +
      usage.completion * TOKEN_NANO.output +
      usage.searches * SEARCH_NANO;
