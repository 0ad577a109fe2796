// Which key a conversation meets first: keys get like shares, a key that comes or goes moves only its own conversations, and
// each hint that a client may give decides before the next.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AccountId } from "../../../actors/ids.ts";
import {
  atLevel,
  type ConversationHash,
  conversationNamed,
  conversationOf,
  highestRanked,
} from "../../../src/gateway/routing/rendezvous.ts";
import { keyId, viewOf } from "../level-samples.ts";

const ANYONE = 7 as AccountId;
const named = (name: string): ConversationHash => conversationNamed(ANYONE, "chat", name);
const meets = (keys: readonly number[], conversation: ConversationHash): number | null =>
  highestRanked(viewOf(1, keys).keys, conversation, null, () => true)?.id ?? null;

const conversations = (count: number): ConversationHash[] =>
  Array.from({ length: count }, (_, nth) => atLevel(named(`conversation ${nth}`), 1));

describe("first choices", () => {
  test.each([2, 5, 16])("of many conversations are spread over %i keys alike", (count) => {
    const keys = Array.from({ length: count }, (_, nth) => nth + 1);
    const all = conversations(10_000);
    const counts = new Map<number, number>();
    for (const one of all) {
      const key = meets(keys, one)!;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    // Five standard deviations of a fair draw.
    const mean = all.length / count;
    for (const key of keys) expect(Math.abs(counts.get(key)! - mean)).toBeLessThan(5 * Math.sqrt(mean));
  });

  const someKeys = fc.uniqueArray(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 20 });
  const someName = fc.string({ minLength: 1 });

  test("do not depend on the order of the keys", () => {
    const shuffled = someKeys.chain((keys) =>
      fc.tuple(fc.constant(keys), fc.shuffledSubarray(keys, { minLength: keys.length })),
    );
    fc.assert(
      fc.property(shuffled, someName, ([keys, others], name) => {
        return meets(keys, named(name)) === meets(others, named(name));
      }),
    );
  });

  test("stay when another key goes, and move to a new key or nowhere when one comes", () => {
    fc.assert(
      fc.property(
        someKeys,
        someName,
        fc.nat(),
        fc.integer({ min: 2e6, max: 3e6 }),
        (keys, name, nth, more) => {
          const first = meets(keys, named(name));
          const gone = keys[nth % keys.length]!;
          const left = meets(
            keys.filter((key) => key !== gone),
            named(name),
          );
          const grown = meets([...keys, more], named(name));
          return (gone === first || left === first) && (grown === first || grown === more);
        },
      ),
    );
  });

  test("are null without a key that passes", () => {
    expect(meets([], named("a"))).toBeNull();
    expect(highestRanked(viewOf(1, [1, 2]).keys, named("a"), null, () => false)).toBeNull();
  });

  test("are the preferred key, where it passes", () => {
    const { keys } = viewOf(1, [1, 2, 3]);
    for (const id of [1, 2, 3]) {
      expect(highestRanked(keys, named("a"), keyId(id), () => true)!.id).toBe(keyId(id));
      expect(highestRanked(keys, named("a"), keyId(id), (key) => key.id !== id)!.id).not.toBe(keyId(id));
    }
  });

  test("of one conversation at two Levels have nothing to do with each other", () => {
    const all = Array.from({ length: 1_000 }, (_, nth) => named(`c${nth}`));
    const same = all.filter((one) => meets([1, 2], atLevel(one, 1)) === meets([1, 2], atLevel(one, 2)));
    expect(same.length).toBeWithin(400, 600);
  });
});

describe("a conversation", () => {
  const headers = (session?: string) => new Headers(session === undefined ? {} : { "x-session-id": session });
  const derived = { hash: 12_345, isCacheKey: false, isLaterTurn: false };
  const keyed = { hash: 12_345, isCacheKey: true, isLaterTurn: false };

  test("is that of the session header, unless the body has a prompt_cache_key", () => {
    expect(conversationOf(ANYONE, "chat", derived, headers("s"))).toBe(named("s"));
    expect(conversationOf(ANYONE, "chat", keyed, headers("s"))).not.toBe(named("s"));
    expect(conversationOf(ANYONE, "chat", keyed, headers("s"))).toBe(
      conversationOf(ANYONE, "chat", derived, headers())!,
    );
    expect(conversationOf(ANYONE, "chat", derived, headers(""))).toBe(
      conversationOf(ANYONE, "chat", derived, headers())!,
    );
  });

  test("belongs to its account and its style", () => {
    const all = [1, 2, 3, 4].flatMap((account) => [
      conversationNamed(account as AccountId, "chat", "a"),
      conversationNamed(account as AccountId, "messages", "a"),
    ]);
    expect(new Set(all).size).toBe(8);
  });

  test("is null where the request has none, whatever its headers say", () => {
    expect(conversationOf(ANYONE, "chat", undefined, headers("s"))).toBeNull();
  });
});
