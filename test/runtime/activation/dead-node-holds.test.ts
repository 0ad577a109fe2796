// What nodes hold of an actor ends when they are over: by a command of the actor's own, at once, and nothing that was on its
// way in their name is held afterwards.

import { describe, expect, test } from "bun:test";
import { decode, encode } from "../../../src/bus/codec.ts";
import { memoryBus } from "../../../src/bus/memory.ts";
import type { AnyBehavior, Command, Reply } from "../../../src/runtime/actor.ts";
import { createDeadNodes } from "../../../src/runtime/placement/dead-nodes.ts";
import type { Placement } from "../../../src/runtime/placement/placement.ts";
import { createSingleNodePlacement } from "../../../src/runtime/placement/single-node.ts";
import { PROTOCOL_VERSION } from "../../../src/runtime/protocol-version.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { manualClock, settled } from "../manual-clock.ts";
import { type Purse, purse } from "../purse.ts";
import { ledgerOf, rig } from "../rig.ts";

/** The release of a holder. */
interface Drop extends Command {
  readonly type: "drop";
  readonly word: string;
}
const isDrop = (command: Command): command is Drop => command.type === "drop";

/** A purse that knows who holds it; giving back is announced, so that it stands in the ledger. */
function keeping(): { behavior: AnyBehavior; holders: string[]; looks: () => number } {
  const holders: string[] = [];
  let looks = 0;
  const behavior: AnyBehavior = {
    ...purse,
    idle: () => holders.length === 0,
    holdOwnership: {
      opensHold: ({ type }) => type === "hold",
      release(_state, isDead) {
        looks++;
        const gone = holders.find(isDead);
        return gone === undefined ? null : ({ type: "drop", word: gone } satisfies Drop);
      },
    },
    decide(state: Purse, command, turn) {
      if (command.type === "hold") holders.push(turn.from);
      if (!isDrop(command)) return purse.decide(state, command as never, turn);
      holders.splice(holders.indexOf(command.word), 1);
      return { reply: {}, events: [{ type: "announced", word: command.word }] };
    },
  };
  return { behavior, holders, looks: () => looks };
}

/** One node that owns everything, asked by others over its bus. */
async function asked() {
  const clock = manualClock();
  const inner = memoryStore({ clock });
  const deadNodes = createDeadNodes();
  const bus = memoryBus();
  let join: Parameters<Placement["onJoin"]>[0] = async () => {};
  const solo = createSingleNodePlacement({ registry: inner, node: "n1" });
  const placement: Placement = {
    ...solo,
    deadNodes,
    onJoin(handle) {
      join = handle;
    },
  };
  const one = keeping();
  const made = await rig({ clock, inner, bus, placement, behavior: one.behavior });
  await join("n1");
  let asks = 0;
  async function ask(from: string, type: string, input: object = {}): Promise<Reply> {
    const [now, to] = [clock.wall(), { kind: "account", id: "p" }];
    const command = { type, ...input };
    const message = { id: `${from}-${++asks}`, bornAt: now, expiresAt: now + 1_000, epoch: 1 };
    const frame = encode({
      v: PROTOCOL_VERSION,
      kind: "command",
      envelope: { ...message, from, to, command },
    });
    return decode(await bus.request("n1", frame, 1_000)) as Reply;
  }
  const words = async () =>
    (await ledgerOf(inner, "p"))
      .flatMap(({ events }) => events.map(({ e }) => e as { type: string; word?: string }))
      .filter(({ type }) => type === "announced")
      .map(({ word }) => word);
  return { ...one, clock, made, deadNodes, ask, words };
}

describe("what a node holds that is over", () => {
  test("is given back at once, durably, though nobody asks the actor", async () => {
    const { ask, deadNodes, holders, words } = await asked();
    for (const node of ["a#1", "b#1", "a#1"]) await ask(node, "hold", { open: true });
    deadNodes.add(["a#1"]);
    await settled();
    expect(holders).toEqual(["b#1"]);
    expect(await words()).toEqual(["a#1", "a#1"]);
  });

  test("is not held afterwards by what was on its way: who lives after all asks again under another name", async () => {
    const { ask, deadNodes, holders } = await asked();
    deadNodes.add(["a#1"]);
    expect(await ask("a#1", "hold", { open: true })).toMatchObject({ ok: false, code: "not_owner" });
    expect(await ask("a#2", "hold", { open: true })).toMatchObject({ ok: true });
    expect(holders).toEqual(["a#2"]);
  });

  test("everything else is taken from every node", async () => {
    const { ask, deadNodes } = await asked();
    deadNodes.add(["a#1"]);
    expect(await ask("a#1", "add", { amount: 3 })).toMatchObject({ ok: true, body: 3 });
  });

  test("is not held by what waited while the actor was being loaded", async () => {
    const { ask, deadNodes, holders } = await asked();
    const waiting = ask("a#1", "hold", { open: true });
    deadNodes.add(["a#1"]);
    expect(await waiting).toMatchObject({ ok: false, code: "not_owner" });
    expect(holders).toEqual([]);
  });

  test("is looked for only when more have deadNodes", async () => {
    const { ask, deadNodes, looks } = await asked();
    await ask("b#1", "hold", { open: true });
    const before = looks();
    for (let i = 0; i < 5; i++) await ask("b#1", "read");
    expect(looks()).toBe(before);
    deadNodes.add(["a#1"]);
    deadNodes.add(["a#1"]);
    expect(looks()).toBe(before + 1);
  });
});

describe("the nodes known to be over", () => {
  test("are reported once each, and grow the version", () => {
    const deadNodes = createDeadNodes();
    let notified = 0;
    deadNodes.onMore(() => void notified++);
    deadNodes.add([]);
    deadNodes.add(["a#1"]);
    deadNodes.add(["a#1"]);
    expect([notified, deadNodes.version(), deadNodes.has("a#1"), deadNodes.has("a#2")]).toEqual([
      1,
      1,
      true,
      false,
    ]);
  });

  test("at the bound the oldest is forgotten", () => {
    const deadNodes = createDeadNodes(2);
    deadNodes.add(["a", "b"]);
    deadNodes.add(["c"]);
    expect(["a", "b", "c"].map(deadNodes.has)).toEqual([false, true, true]);
  });
});
