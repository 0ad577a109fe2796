// Checker 15: what a node keeps of others' actors is as they are, at most a second later. Looked at when faults have
// stopped, since news are hints: what was lost of them before heals by the copies' own age.

import { ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { toNano } from "../../actors/money.ts";
import { sleep } from "../../src/base/clock.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { ProcessClock } from "./clock.ts";
import type { SimNode } from "./node.ts";
import type { Trace } from "./trace.ts";
import type { KnownAccount } from "./tree.ts";

/** News may take so long. */
const NEWS_MS = 1_000;

/** Changes some accounts, each by way of another node, and looks at every node's copy a second later. */
export async function checkCopies(parts: {
  nodes: readonly SimNode[];
  accounts: readonly KnownAccount[];
  world: ProcessClock;
  trace: Trace;
}): Promise<void> {
  const { nodes, accounts, world, trace } = parts;

  async function changed(id: KnownAccount["id"], at: SimNode): Promise<void> {
    // At hand everywhere, so that only news can make it another.
    await Promise.all(nodes.map(async ({ configs }) => configs?.accountContext(id)));
    const change = { softLimit: toNano(1 + (id % 7)) };
    await at.system.ask(actorRef.account(id), "update", { change, parent: null, by: ROOT });
    const { version } = await at.system.ask(actorRef.account(id), "profile", {});
    await sleep(world, NEWS_MS);
    for (const { name, configs } of nodes) {
      const copy = await configs?.accountContext(id);
      if (copy !== undefined && copy.account.version < version) {
        trace.violate(
          "15 copies",
          `${name} knows version ${copy.account.version} of account ${id}, by now it is ${version}`,
        );
      }
    }
    trace.count("copies looked at");
  }

  for (const [i, { id }] of accounts.entries()) {
    await changed(id, nodes[i % nodes.length]!).catch((error) => {
      // Gone, or going: nobody keeps copies of it.
      if (!(error instanceof RefusedError)) throw error;
    });
  }
}
