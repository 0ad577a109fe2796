// Root's account on three nodes, with the settling of each: requests are admitted, charged and cancelled at front ends while
// nodes crash, freeze and hand over.

import { account } from "../../../actors/account/account.ts";
import type { AdmitInput } from "../../../actors/account/admit.ts";
import type { ChargeFacts } from "../../../actors/account/state.ts";
import { ROOT } from "../../../actors/ids.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import { NO_LIMITS } from "../../../actors/rate-window.ts";
import { RefusedError } from "../../../src/base/errors.ts";
import { silent } from "../../../src/base/log.ts";
import type { SpooledCharge } from "../../../src/gateway/admission/charge-spool.ts";
import { createSettlement, type Settlement } from "../../../src/gateway/admission/settlement.ts";
import type { ActorSystem } from "../../../src/runtime/system.ts";
import { admitInput, factsOf, KEY } from "../../actors/account-samples.ts";
import { nodesRig, type TestNode } from "../../runtime/nodes.ts";

/** The account's limit of requests a minute. */
export const RPM = 3;

/** Root's account on three nodes, with a limit of requests; `owner` serves it, the others are front ends. */
export async function accountRig() {
  const nodes = nodesRig();
  const behavior = account as never;
  for (const name of ["a", "b", "c"]) await nodes.start(name, { behavior });
  await nodes.until(() => nodes.nodes.every(({ system }) => system.stats().shards >= 80));
  await nodes.run(1_500);
  const systemOf = ({ system }: TestNode) => system as unknown as ActorSystem<Protocol>;
  const isOwner = (node: TestNode) => systemOf(node).owns(actorRef.account(ROOT));
  const owner = nodes.nodes.find(isOwner)!;
  const [front, other] = nodes.nodes.filter((node) => node !== owner) as [TestNode, TestNode];

  const settles = new Map<TestNode, Settlement>();
  for (const node of nodes.nodes) {
    const spool = new Map<string, SpooledCharge>();
    settles.set(
      node,
      createSettlement({
        ...{ system: systemOf(node), clock: nodes.clock, log: silent, chargeWaitMs: 5_000 },
        spool: {
          keep: async (late) => void spool.set(late.facts.id, late),
          forget: async (id) => void spool.delete(id),
          all: async () => [...spool.values()],
        },
      }),
    );
  }
  const settleAt = (node: TestNode) => {
    const settle = settles.get(node)!;
    return {
      renew: settle.renew.bind(settle),
      isCancelling: settle.isCancelling.bind(settle),
      pendingLateCharges: settle.pendingLateCharges.bind(settle),
      lateCharges: settle.lateCharges.bind(settle),
      replay: settle.replay.bind(settle),
      admit: async (id: string, over: Partial<AdmitInput> = {}) =>
        settle.admit(ROOT, admitInput({ id, version: 2, ...over }), { id, budgetMs: 20_000 }),
      charge: (id: string, over: Partial<ChargeFacts> = {}) =>
        settle.charge(ROOT, factsOf({ id, admittedAt: nodes.clock.wall(), ...over })),
      cancel: (id: string) => settle.cancel(ROOT, id, false),
    };
  };

  /** What came of it, once it has: time passes meanwhile. */
  async function come<T>(work: Promise<T>): Promise<T | string> {
    let over = false;
    const outcome = work
      .catch((error) => (error instanceof RefusedError ? error.refusal.code : String(error)))
      .finally(() => {
        over = true;
      });
    await nodes.until(() => over, 30_000);
    return outcome;
  }
  const admit = (node: TestNode, id: string, over: Partial<AdmitInput> = {}) =>
    come(settleAt(node).admit(id, over));
  const held = async (node: TestNode) => {
    const record = await come(systemOf(node).ask(actorRef.account(ROOT), "read", {}, { budgetMs: 20_000 }));
    return typeof record === "string" ? record : record.held;
  };

  /** How its requests ended, by the ledger. */
  async function events(): Promise<string[]> {
    const commits = await nodes.inner.readCommits("account/1", 0, 1_000);
    const all = commits.flatMap((commit) => commit.events.map(({ e }) => e as { type: string; id?: string }));
    const ended = all.filter(({ type }) => type === "charge" || type === "released");
    return ended.map(({ type, id }) => `${type} ${id}`).sort();
  }

  const asked = systemOf(front);
  await come(asked.ask(actorRef.account(ROOT), "createRoot", { keyHash: KEY }));
  const change = { limits: { ...NO_LIMITS, rpm: RPM } };
  await come(asked.ask(actorRef.account(ROOT), "update", { by: ROOT, parent: null, change }));
  return { nodes, owner, front, other, isOwner, systemOf, settleAt, admit, held, come, events };
}
