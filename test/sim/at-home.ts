// A request at the front end that runs it, by the gateway's own settling: admitted, moved to another model, renewed, charged
// or cancelled there, for as long as that node lives. Only in a cluster: there what a front end holds outlives its accounts'
// owners, and ends with the front end.

import type { AdmitInput, Admitted } from "../../actors/account/admit.ts";
import type { ChargeFacts } from "../../actors/account/state.ts";
import type { AccountId } from "../../actors/ids.ts";
import type { Nano } from "../../actors/money.ts";
import { Refused } from "../../src/runtime/system.ts";
import type { Checkers } from "./checkers.ts";
import { type Clients, GaveUp } from "./clients.ts";
import type { SimNode } from "./node.ts";
import type { Trace } from "./trace.ts";

/** Its front end does not know what it holds, and has given it up. */
export class Forsaken extends GaveUp {}

export interface AtHome {
  /** At some node, which is its home then. Throws Refused, or Forsaken. */
  admit(
    of: AccountId,
    input: AdmitInput,
    options: { readonly bornAt: number; readonly budgetMs: number },
    home: SimNode | null,
  ): Promise<Admitted & { readonly home: SimNode }>;
  renew(home: SimNode, of: AccountId, need: { id: string; cost: Nano; tokens: number }): void;
  cancel(home: SimNode, of: AccountId, id: string, aborted: boolean): void;
  /** Resolves when it is stored, or in the spool. Throws Refused, or GaveUp when the node dies. */
  charge(home: SimNode, of: AccountId, facts: ChargeFacts): Promise<void>;
}

export function createAtHome(parts: { clients: Clients; checkers: Checkers; trace: Trace }): AtHome {
  const { clients, checkers, trace } = parts;
  const { holds, ledger } = checkers;

  return {
    async admit(of, input, options, before) {
      let home: SimNode | null = null;
      // Of a request that moves, the account has its id already.
      const id = before === null ? input.id : `${input.id}:${input.model}`;
      try {
        const admitted = await clients.reach(
          "admit",
          1,
          (node) => {
            home = node;
            return node.settle.admit(of, input, { ...options, id });
          },
          before,
        );
        holds.runs(of, input.id);
        if (before === null) home!.crashed.catch(() => holds.dies(of, input.id));
        return { ...admitted, home: home! };
      } catch (error) {
        if (error instanceof Refused) throw error;
        const node = home as SimNode | null;
        holds.ends(of, input.id);
        if (node?.alive()) node.settle.cancel(of, input.id, false);
        throw new Forsaken("admit");
      }
    },
    renew: (home, of, { id, cost, tokens }) => home.settle.renew(of, id, { cost, tokens }),
    cancel(home, of, id, aborted) {
      holds.ends(of, id);
      home.settle.cancel(of, id, aborted);
      trace.count("cancelled");
    },
    async charge(home, of, facts) {
      const mine = { id: facts.id, account: of, cost: facts.cost };
      holds.ends(of, facts.id);
      await clients.reach("settle", 1, (node) => node.settle.charge(of, facts), home);
      if (home.settle.late().some((late) => late.facts.id === facts.id)) {
        ledger.promised(mine);
        trace.count("charges late");
      } else {
        ledger.acked(mine);
        trace.count("charges settled");
      }
    },
  };
}
