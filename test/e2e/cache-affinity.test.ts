// Prompt-cache affinity from the outside: the turns of a conversation meet the key that has read the turns before, as a provider
// counts them, and a conversation moves only when its key cannot serve it.

import { describe, expect, test } from "bun:test";
import { Conversations } from "./conversations.ts";
import { type Json, MODEL, type Owner } from "./harness.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench();

const ownerOf = (keys: number, LEVEL_AFFINITY: "on" | "off" = "on"): Promise<Owner> =>
  bench.owner({ keys, config: { LEVEL_AFFINITY } });
/** As the stand-in names a key. */
const nameOf = (secret: string): string => secret.slice(-4);
const countedOf = (conversations: Conversations) =>
  new Map(
    Object.entries(Object.groupBy(conversations.keys(), ([first]) => first!)).map(([key, all]) => {
      return [key, all!.length];
    }),
  );

/** Turns that are under way at a time: too few to overload a key. */
const AT_ONCE = 4;

describe("with five keys and 200 conversations", () => {
  test("the turns after the first meet their key", async () => {
    const owner = await ownerOf(5);
    const conversations = new Conversations(bench, owner, 200);
    for (let turn = 0; turn < 4; turn++) await conversations.round(AT_ONCE);
    expect(conversations.turns().map((turns) => turns.length)).toEqual(new Array(200).fill(4));
    expect(conversations.hitShare()).toBe(1);
    // Each key has its share of them: 40, and five standard deviations.
    const counts = countedOf(conversations);
    expect(new Set(counts.keys())).toEqual(new Set(owner.secrets.map(nameOf)));
    for (const count of counts.values()) expect(count).toBeWithin(12, 69);
  });

  test("all at once, too: what an overloaded key passes on stays where it went", async () => {
    const owner = await ownerOf(5);
    const conversations = new Conversations(bench, owner, 200);
    for (let turn = 0; turn < 5; turn++) await conversations.round(200);
    expect(conversations.hitShare()).toBeGreaterThanOrEqual(0.95);
  });

  test("they meet whatever key is free when LEVEL_AFFINITY is off", async () => {
    const owner = await ownerOf(5, "off");
    // With a multiple of five each would meet its key again when they come in turn.
    const conversations = new Conversations(bench, owner, 199);
    for (let turn = 0; turn < 4; turn++) await conversations.round(AT_ONCE);
    expect(conversations.hitShare()).toBeLessThan(0.6);
  });

  test("the conversations of a key that sleeps move once and stay, and no other one moves", async () => {
    const owner = await ownerOf(5);
    const [asleep, ...awake] = owner.secrets.map(nameOf);
    const conversations = new Conversations(bench, owner, 200);
    await conversations.round(AT_ONCE);
    bench.provider.behave(owner.secrets[0]!, "fault=401");
    for (let turn = 0; turn < 2; turn++) await conversations.round(AT_ONCE);
    bench.provider.behave(owner.secrets[0]!, null);
    const { status } = await bench.call(owner.key, "PUT", `/x-keys/${owner.keys[0]!.id}`, { Sleep: false });
    expect(status).toBe(200);
    for (let turn = 0; turn < 2; turn++) await conversations.round(AT_ONCE);
    let moved = 0;
    for (const [first, ...later] of conversations.keys()) {
      expect(later).toEqual(new Array(4).fill(first === asleep ? later[0]! : first!));
      if (first !== asleep) continue;
      expect(awake).toContain(later[0]!);
      moved++;
    }
    expect(moved).toBeGreaterThan(0);
  });
});

describe("the hint", () => {
  const keyOf = () => bench.provider.calls().at(-1)!.key;
  /** The keys that requests met which have this in common, and otherwise nothing. */
  async function met(common: object, headers: Record<string, string> = {}, path = "/v1/chat/completions") {
    const owner = await ownerOf(5);
    const keys = new Set<string>();
    for (let nth = 0; nth < 12; nth++) {
      const messages = [{ role: "user", content: `something else ${nth} [[output=1]]` }];
      const body = { model: MODEL, messages, max_tokens: 9, ...common };
      expect((await bench.call(owner.key, "POST", path, body, { headers })).status).toBe(200);
      keys.add(keyOf());
    }
    return keys.size;
  }

  test("is the prompt_cache_key, else the session, else the user_id of a message", async () => {
    expect(await met({})).toBeGreaterThan(1);
    expect(await met({ prompt_cache_key: "k" })).toBe(1);
    expect(await met({}, { "x-session-id": "s" })).toBe(1);
    expect(await met({ metadata: { user_id: "u" } }, {}, "/v1/messages")).toBe(1);
  });

  test("of a session finds its key in an explanation", async () => {
    const owner = await ownerOf(5);
    const explain = async (): Promise<Json> =>
      (await bench.call(owner.key, "GET", `/dashboard/explain?model=${MODEL}&session=my-session`)).body;
    const chat = () => bench.chat(owner.key, "[[output=1]]", { prompt_cache_key: "my-session" });
    const marked = (found: Json) =>
      Object.fromEntries(
        found.candidates
          .filter(({ affinity }: Json) => affinity !== undefined)
          .map(({ affinity, key_id }: Json) => [
            affinity,
            nameOf(owner.keys.find(({ id }) => id === key_id)!.secret),
          ]),
      );
    const before = await explain();
    expect(before.affinity).toBe("on");
    await chat();
    const preferred = keyOf();
    expect(marked(before)).toEqual({ first_choice: preferred });

    bench.provider.behave(owner.secrets.find((secret) => nameOf(secret) === preferred)!, "fault=401", 1);
    await chat();
    expect(marked(await explain())).toEqual({ first_choice: preferred, remembered: keyOf() });

    await bench.call(owner.key, "PUT", "/x-config", { LEVEL_AFFINITY: "off" });
    const off = await explain();
    expect([off.affinity, marked(off)]).toEqual(["off", {}]);
  });

  test("shows no key to others than the Owner", async () => {
    const owner = await ownerOf(2);
    const user = await bench.subaccount(owner);
    const { body } = await bench.call(user.key, "GET", `/dashboard/explain?model=${MODEL}&session=s`);
    expect(body.affinity).toBe("on");
    expect(body.candidates).toEqual([{ model: MODEL, level: 1, count: 2, state: "normal" }]);
  });
});
