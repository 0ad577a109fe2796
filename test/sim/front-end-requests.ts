// A request at the front end that runs it, by the gateway's own settling: admitted, moved to another model, renewed, charged
// or cancelled there, for as long as that node lives. Only in a cluster: there what a front end holds outlives its accounts'
// owners, and ends with the front end.

import type { AdmitInput, Admitted, StaleProfile } from "../../actors/account/admit.ts";
import { IDEMPOTENCY_MISMATCH, REPEAT_RUNNING } from "../../actors/account/idempotency.ts";
import type { ChargeFacts } from "../../actors/account/state.ts";
import type { AccountId } from "../../actors/ids.ts";
import type { Nano } from "../../actors/money.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { Checkers } from "./checkers.ts";
import { type Clients, GaveUp } from "./clients.ts";
import type { ProcessClock } from "./clock.ts";
import type { SimNode } from "./node.ts";
import type { Trace } from "./trace.ts";

/** Its front end does not know what it holds, and has given it up. */
export class Forsaken extends GaveUp {}

export interface AtHome {
  /** At some node, which is its home then, unless the account's profile is newer. Throws Refused, or Forsaken. */
  admit(
    of: AccountId,
    input: AdmitInput,
    options: { readonly bornAt: number; readonly budgetMs: number },
    home: SimNode | null,
  ): Promise<(Admitted & { readonly home: SimNode }) | StaleProfile>;
  renew(home: SimNode, of: AccountId, need: { id: string; cost: Nano; tokens: number }): void;
  /** Resolves when its client is answered; with true once its Idempotency-Key is free, as the service believes. */
  cancel(home: SimNode, of: AccountId, id: string, aborted: boolean): Promise<boolean>;
  /**
   * Sends another request with a key whose first one ended in an error, at any node: it may be refused for many reasons, but
   * not for its key.
   */
  usedAnew(of: AccountId, input: AdmitInput): Promise<void>;
  /** Resolves when it is stored, or in the spool. Throws Refused, or GaveUp when the node dies. */
  charge(home: SimNode, of: AccountId, facts: ChargeFacts): Promise<void>;
}

export function createAtHome(parts: {
  clients: Clients;
  checkers: Checkers;
  trace: Trace;
  world: ProcessClock;
}): AtHome {
  const { clients, checkers, trace } = parts;
  const { holds, ledger } = checkers;

  return {
    async admit(of, input, options, before) {
      let home: SimNode | null = null;
      // The account has the id of a request that moves already.
      const id = before === null ? input.id : `${input.id}:${input.model}`;
      try {
        const admitted = await clients.reach(
          "admit",
          1,
          (node) => {
            home = node;
            return Promise.resolve(node.settle.admit(of, input, { ...options, id }));
          },
          before,
        );
        if ("stale" in admitted) return admitted;
        holds.runs(of, input.id);
        if (before === null) home!.crashed.catch(() => holds.dies(of, input.id));
        return { ...admitted, home: home! };
      } catch (error) {
        if (error instanceof RefusedError) throw error;
        const node = home as SimNode | null;
        holds.ends(of, input.id);
        if (node?.alive()) void node.settle.cancel(of, input.id, false);
        throw new Forsaken("admit");
      }
    },
    renew: (home, of, { id, cost, tokens }) => home.settle.renew(of, id, { cost, tokens }),
    async cancel(home, of, id, aborted) {
      holds.ends(of, id);
      trace.count("cancelled");
      return Promise.race([home.settle.cancel(of, id, aborted), home.crashed]).catch(() => false);
    },
    async usedAnew(of, input) {
      try {
        const admitted = await this.admit(of, input, { bornAt: parts.world.wall(), budgetMs: 5_000 }, null);
        if ("stale" in admitted) return;
        const { home } = admitted;
        holds.ends(of, input.id);
        void home.settle.cancel(of, input.id, false);
        trace.count("keys used anew");
      } catch (error) {
        if (!(error instanceof RefusedError) && !(error instanceof GaveUp)) throw error;
        const code = error instanceof RefusedError ? error.refusal.code : "";
        if (code !== IDEMPOTENCY_MISMATCH.code && code !== REPEAT_RUNNING) return;
        trace.violate(
          "16 keys",
          `request ${input.id} of account ${of} is refused for a key that is free: ${code}`,
        );
      }
    },
    async charge(home, of, facts) {
      const mine = { id: facts.id, account: of, cost: facts.cost };
      holds.ends(of, facts.id);
      await clients.reach("settle", 1, (node) => node.settle.charge(of, facts), home);
      if (home.settle.pendingLateCharges().some((late) => late.facts.id === facts.id)) {
        ledger.promised(mine);
        trace.count("charges late");
      } else {
        ledger.acked(mine);
        trace.count("charges settled");
      }
    },
  };
}
