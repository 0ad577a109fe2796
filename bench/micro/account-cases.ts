// The decisions of an account that every request waits for, each with its `evolve`, as a turn of the runtime calls them. Time passes
// as at 2,560 requests a second, so that what an account keeps for some seconds has its usual size.

import { account } from "../../actors/account/account.ts";
import type { AccountCommand } from "../../actors/account/commands.ts";
import { API_KEYS_MAX } from "../../actors/api-key/api-key.ts";
import type { ApiKeyId } from "../../actors/ids.ts";
import { admitInput, factsOf, KEY, type Living, living, usd } from "../../test/actors/account-samples.ts";
import { added, secretOf } from "../../test/actors/api-key-samples.ts";
import type { Call } from "./timing.ts";

/** Requests between two steps of the clock; also the holds that are open at most. */
const CHUNK = 256;
const STEP_MS = 100;
/** The price of a whole answer of the stand-in provider. */
const COST = usd(0.0000588);
const CREDIT = usd(1_000_000);

/** Decides and evolves a command. Nothing is kept of it but the account's state. */
function turn(one: Living, command: AccountCommand, id: string): void {
  const { state, now } = one;
  const decision = account.decide(state, command, { id, from: "node", now, epoch: 1, done: false });
  if (decision.refused !== undefined) throw new Error(`refused: ${decision.refused.code}`);
  for (const event of decision.events ?? []) account.evolve(state, event, now);
}

/** Who asks: the main key, or a named one. */
interface Asker {
  readonly keyHash: string;
  readonly apiKey?: ApiKeyId;
}

const MAIN: Asker = { keyHash: KEY };

const admitted = (one: Living, nth: number, { keyHash }: Asker): void =>
  turn(
    one,
    { type: "admit", ...admitInput({ id: `r${nth}`, keyHash, cost: COST, promptCost: COST }) },
    `admit-${nth}`,
  );

const charged = (one: Living, nth: number, { apiKey }: Asker): void =>
  turn(
    one,
    {
      type: "charge",
      ...factsOf({ id: `r${nth}`, cost: COST, admittedAt: one.now, ...(apiKey && { apiKey }) }),
    },
    `r${nth}`,
  );

/** Admits requests; the holds of a chunk are charged before the next one. */
function admitting(one: Living, asker: Asker): Call {
  let done = 0;
  let open = 0;
  return {
    chunk: CHUNK,
    call(nth) {
      admitted(one, nth, asker);
      open = nth + 1;
    },
    between() {
      for (; done < open; done++) charged(one, done, asker);
      one.now += STEP_MS;
    },
  };
}

/** Admits requests of the main key of an account that has no other one. */
export const admitDecision = (): Call => admitting(living({ credit: CREDIT }), MAIN);

/** Admits requests of a key with both caps and both rate limits, which never bite. */
export function cappedKeyAdmit(): Call {
  const one = living({ credit: CREDIT });
  const apiKey = added(one, { hardLimit: CREDIT, dailyLimit: CREDIT, rpm: 1e9, tpm: 1e12 });
  return admitting(one, { keyHash: secretOf(), apiKey });
}

/** Admits requests of the main key of an account that has as many named keys as it may. */
export const mainKeyAdmitBesideKeys = (): Call => admitting(withKeys(living({ credit: CREDIT })), MAIN);

function withKeys(one: Living): Living {
  for (let i = 1; i <= API_KEYS_MAX; i++) {
    added(one, { name: `key-${i}`, dailyLimit: usd(5), rpm: 600, tags: { team: `team-${i % 9}` } });
  }
  return one;
}

/** Charges of the day that an account has when it is activated. */
const CHARGES = 1_000;

/** Makes an account from the text of its snapshot. It had a charge a second, of its keys in turn where it has some. */
function activating(one: Living): Call {
  const keys = one.state.apiKeys?.size ?? 0;
  for (let nth = 0; nth < CHARGES; nth++) {
    one.now += 1_000;
    charged(one, nth, keys === 0 ? MAIN : { keyHash: "", apiKey: (1 + (nth % keys)) as ApiKeyId });
  }
  const text = JSON.stringify(account.freeze(one.state));
  return {
    call() {
      if (account.thaw("7", JSON.parse(text)).profile === null) throw new Error("there is no account");
    },
  };
}

/** Activates an account that has its main key only. */
export const activation = (): Call => activating(living({ credit: CREDIT }));

/** Activates an account that has as many named keys as it may. */
export const activationWithKeys = (): Call => activating(withKeys(living({ credit: CREDIT })));

/** Charges requests that were admitted before the chunk. */
export function chargeDecision(): Call {
  const one = living({ credit: CREDIT });
  let open = 0;
  return {
    chunk: CHUNK,
    call: (nth) => charged(one, nth, MAIN),
    between() {
      one.now += STEP_MS;
      for (const end = open + CHUNK; open < end; open++) admitted(one, open, MAIN);
    },
  };
}
