// Choosing a key for a conversation: the same one turn after turn and on every node, another one only while that cannot be used
// or has far too much to do, and then that one.

import { describe, expect, test } from "bun:test";
import type { LevelView } from "../../../actors/level/view.ts";
import { createKeyChooser, type KeyChooser, type Wish } from "../../../src/gateway/attempt/key-chooser.ts";
import { DEVIATION_MS } from "../../../src/gateway/routing/key-deviations.ts";
import type { ConversationHash } from "../../../src/gateway/routing/rendezvous.ts";
import { type ManualClock, manualClock, NOON } from "../../runtime/manual-clock.ts";
import { type KeyGiven, keyId, resting, sleeping, viewOf, WAKING, without } from "../level-samples.ts";
import { servesIn } from "../request-samples.ts";

const KEYS = [1, 2, 3, 4, 5];
const ALL = viewOf(1, KEYS);
const CONVERSATIONS = Array.from({ length: 200 }, (_, nth) => ((nth + 1) * 0x9e3779b1) >>> 0);

/** A view in which one key fares so. */
const viewWith = (id: number, given: Omit<KeyGiven, "id">): LevelView =>
  viewOf(1, [...KEYS.filter((key) => key !== id), { id, ...given }]);

/** The keys of one node, as its conversations meet them. */
class Node {
  readonly clock: ManualClock = manualClock();
  readonly chooser: KeyChooser = createKeyChooser(this.clock);

  wish(conversation: number, over: Partial<Wish> = {}): Wish & { readonly conversation: ConversationHash } {
    return {
      ...{ model: "m", serves: servesIn("chat"), now: NOON, tried: new Set(), probing: new Set() },
      isLaterTurn: false,
      ...over,
      conversation: conversation as ConversationHash,
    };
  }

  choose(conversation: number, view = ALL, over: Partial<Wish> = {}): number | null {
    return this.chooser.choose(view, this.wish(conversation, over))?.key.id ?? null;
  }

  /** A turn of the conversation that is answered by the key chosen. */
  turn(conversation: number, view = ALL, over: Partial<Wish> = {}): number {
    const key = this.choose(conversation, view, over)!;
    this.chooser.answered(view, this.wish(conversation, over), keyId(key));
    return key;
  }

  preferredKeys(): Map<number, number> {
    return new Map(CONVERSATIONS.map((one) => [one, this.choose(one)!]));
  }
}

/** A conversation that meets this key first. */
const conversationOf = (key: number): number => CONVERSATIONS.find((one) => new Node().choose(one) === key)!;

describe("a conversation", () => {
  test("meets the same key turn after turn, on every node, whatever else is going on", () => {
    const [one, other] = [new Node(), new Node()];
    const preferredKeys = one.preferredKeys();
    expect(new Set(preferredKeys.values())).toEqual(new Set(KEYS));
    other.chooser.take(keyId(1));
    for (const [conversation, preferred] of preferredKeys) {
      expect([one.turn(conversation), other.turn(conversation)]).toEqual([preferred, preferred]);
    }
  });

  const OUT: readonly [string, Omit<KeyGiven, "id">][] = [
    ["sleeps", { health: sleeping(60) }],
    ["rests", { health: resting(60) }],
    ["does not have the model", { health: without("m") }],
  ];
  test.each(OUT)(
    "moves once when its key %s, to the same key on every node, and stays afterwards",
    (_, out) => {
      const [one, other] = [new Node(), new Node()];
      const view = viewWith(3, out);
      for (const [conversation, preferred] of one.preferredKeys()) {
        const away = one.turn(conversation, view);
        expect(other.turn(conversation, view)).toBe(away);
        if (preferred === 3) expect(away).not.toBe(3);
        else expect(away).toBe(preferred);
        expect([one.turn(conversation, view), one.turn(conversation), one.turn(conversation)]).toEqual([
          away,
          away,
          away,
        ]);
      }
    },
  );

  test("goes back ten minutes after its last turn", async () => {
    const node = new Node();
    const conversation = conversationOf(3);
    const away = node.turn(conversation, viewWith(3, { health: sleeping(60) }));
    await node.clock.advance(DEVIATION_MS);
    expect(node.turn(conversation)).toBe(away);
    await node.clock.advance(DEVIATION_MS + 1);
    expect(node.turn(conversation)).toBe(3);
  });

  test("goes where it was answered after its key failed, and back to its preferred key once that one fails", () => {
    const node = new Node();
    const conversation = conversationOf(3);
    const away = node.turn(conversation, ALL, { tried: new Set([keyId(3)]) });
    expect(away).not.toBe(3);
    expect(node.turn(conversation)).toBe(away);
    expect(node.turn(conversation, viewWith(away, { health: sleeping(60) }))).toBe(3);
    expect(node.turn(conversation)).toBe(3);
  });

  test("of a key that is disabled has another first choice, which is no deviation", () => {
    const node = new Node();
    const conversation = conversationOf(3);
    expect(node.turn(conversation, viewWith(3, { disabled: true }))).not.toBe(3);
    expect(node.turn(conversation)).toBe(3);
  });

  test("meets keys that serve it alone", () => {
    const node = new Node();
    const view = viewOf(1, [1, 2, { id: 3, style: "messages" }]);
    for (const one of CONVERSATIONS) {
      expect(node.choose(one, view)).toBeLessThan(3);
      expect(node.choose(one, view, { serves: servesIn("messages") })).toBe(3);
    }
  });

  test("has no key where none is left", () => {
    expect(new Node().choose(1, ALL, { tried: new Set(KEYS.map(keyId)) })).toBeNull();
    expect(new Node().choose(1, viewOf(1, []))).toBeNull();
  });
});

describe("an overloaded key", () => {
  test.each([
    [0, 4],
    [1, 6],
    [3, 10],
  ])("has more than twice the %i requests of the least busy one, plus 4: more than %i", (least, most) => {
    const node = new Node();
    const conversation = conversationOf(3);
    for (const key of KEYS) for (let nth = 0; nth < least; nth++) node.chooser.take(keyId(key));
    while (node.chooser.inFlight(keyId(3)) < most) node.chooser.take(keyId(3));
    expect(node.choose(conversation)).toBe(3);
    node.chooser.take(keyId(3));
    const away = node.turn(conversation);
    expect(away).not.toBe(3);
    node.chooser.done(keyId(3));
    expect(node.turn(conversation)).toBe(away);
  });

  test("is passed over also by conversations that moved to it", () => {
    const node = new Node();
    const conversation = conversationOf(3);
    const away = node.turn(conversation, viewWith(3, { health: sleeping(60) }));
    for (let nth = 0; nth < 5; nth++) node.chooser.take(keyId(away));
    expect(node.turn(conversation)).toBe(3);
  });

  test("serves where there is no other", () => {
    const node = new Node();
    for (let nth = 0; nth < 50; nth++) node.chooser.take(keyId(1));
    expect(node.choose(1, viewOf(1, [1, { id: 2, disabled: true }]))).toBe(1);
  });
});

describe("a waking key", () => {
  const view = viewWith(3, { health: WAKING });
  const probing = new Set([keyId(3)]);

  test("is probed by a conversation that meets it; all others stay where they are", () => {
    const node = new Node();
    for (const [conversation, preferred] of node.preferredKeys()) {
      const choice = node.chooser.choose(view, node.wish(conversation))!;
      expect([choice.key.id as number, choice.probe]).toEqual([preferred, preferred === 3]);
    }
  });

  test("is left alone by conversations that moved while it slept", () => {
    const node = new Node();
    const conversation = conversationOf(3);
    const away = node.turn(conversation, viewWith(3, { health: sleeping(60) }));
    expect(node.turn(conversation, view)).toBe(away);
  });

  test("is used beside its probe only when there is no other", () => {
    const node = new Node();
    const conversation = conversationOf(3);
    expect(node.choose(conversation, view, { probing })).not.toBe(3);
    const tried = new Set([1, 2, 4, 5].map(keyId));
    const choice = node.chooser.choose(view, node.wish(conversation, { probing, tried }));
    expect(choice).toMatchObject({ key: { id: keyId(3) }, probe: false });
  });
});

describe("after a sleep", () => {
  /** The key slept until NOON and has answered since. */
  const view = viewWith(3, { health: { sleepTimes: 1, sleepsUntil: NOON } });
  const later = { isLaterTurn: true };
  const within = { ...later, now: NOON + DEVIATION_MS - 1 };
  const after = { ...later, now: NOON + DEVIATION_MS };

  test("later turns stay where they went, on nodes that know nothing of it too, also when its time is over", () => {
    const [one, ...others] = [new Node(), new Node(), new Node()] as const;
    for (const [conversation, preferred] of one.preferredKeys()) {
      const away = one.turn(conversation, viewWith(3, { health: sleeping(60) }), later);
      for (const node of [one, ...others]) expect(node.turn(conversation, view, within)).toBe(away);
      for (const node of [one, ...others]) expect(node.turn(conversation, view, after)).toBe(away);
      if (preferred !== 3) expect(away).toBe(preferred);
    }
  });

  test("first turns meet the key, and turns of ten minutes later", () => {
    const conversation = conversationOf(3);
    expect(new Node().turn(conversation, view, { now: NOON })).toBe(3);
    expect(new Node().turn(conversation, view, { ...later, now: NOON })).not.toBe(3);
    expect(new Node().turn(conversation, view, after)).toBe(3);
  });

  test("it is probed by a first turn, and serves later ones where all others are out or overloaded", () => {
    const waking = viewWith(3, { health: WAKING });
    const conversation = conversationOf(3);
    const choose = (node: Node, over: Partial<Wish>) =>
      node.chooser.choose(waking, node.wish(conversation, over));
    expect(choose(new Node(), {})).toMatchObject({ key: { id: keyId(3) }, probe: true });
    expect(choose(new Node(), later)).not.toMatchObject({ key: { id: keyId(3) } });
    const tried = new Set([1, 2, 4, 5].map(keyId));
    expect(choose(new Node(), { ...later, tried })).toMatchObject({ key: { id: keyId(3) }, probe: true });
    const busy = new Node();
    for (const key of tried) for (let nth = 0; nth < 5; nth++) busy.chooser.take(key);
    expect(busy.choose(conversation, view, { ...later, now: NOON })).toBe(3);
  });

  test("an explanation of any node names the key of the later turns", () => {
    const node = new Node();
    const conversation = conversationOf(3);
    for (const now of [within.now, after.now]) {
      const { first } = node.chooser.affinityOf(view, node.wish(conversation), now);
      expect(first as number).toBe(node.choose(conversation, view, { ...later, now })!);
    }
  });
});

describe("how a conversation meets its key", () => {
  const affinityOf = (node: Node, wish: ReturnType<Node["wish"]>, view = ALL) =>
    node.chooser.affinityOf(view, wish, NOON);

  test("can be asked", () => {
    const node = new Node();
    const conversation = conversationOf(3);
    const wish = node.wish(conversation);
    expect(affinityOf(node, wish)).toEqual({ first: keyId(3), remembered: null });
    const away = node.turn(conversation, viewWith(3, { health: sleeping(60) }));
    expect(affinityOf(node, wish)).toEqual({ first: keyId(3), remembered: keyId(away) });
  });

  test("says where it goes: before a remembered key go keys that serve the request as it is", () => {
    const asItIs: Partial<Wish> = { serves: () => "served", servesFirst: servesIn("chat") };
    const translated = { id: 9, style: "messages" } as const;
    const view = viewOf(1, [3, translated]);
    const out = viewOf(1, [{ id: 3, health: resting(60) }, translated]);
    const node = new Node();
    for (const conversation of CONVERSATIONS.slice(0, 20)) {
      const wish = node.wish(conversation, asItIs);
      expect(node.turn(conversation, out, asItIs)).toBe(9);
      expect([node.choose(conversation, out, asItIs), affinityOf(node, wish, out)]).toEqual([
        9,
        { first: keyId(3), remembered: keyId(9) },
      ]);
      expect([node.choose(conversation, view, asItIs), affinityOf(node, wish, view)]).toEqual([
        3,
        { first: keyId(3), remembered: null },
      ]);
    }
  });
});
