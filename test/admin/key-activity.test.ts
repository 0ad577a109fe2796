// The figures of provider keys over all nodes: added up, without those of a node that is silent or answers something else.

import { expect, test } from "bun:test";
import type { ProviderKeyId } from "../../actors/ids.ts";
import { KEY_ACTIVITY, keyActivity, keyActivityAnswer } from "../../src/admin/key-activity.ts";
import { type KeyActivity, noActivity } from "../../src/gateway/attempt/key-activity.ts";

const keyId = (id: number) => id as ProviderKeyId;
const activity = (key: number, failures: number): KeyActivity => ({ ...noActivity(keyId(key)), failures });

/** A system of nodes that answer so. */
const nodes = (...answers: readonly unknown[]) => ({
  async queryNodes({ name, input }: { readonly name: string; readonly input: unknown }) {
    expect([name, input]).toEqual([KEY_ACTIVITY, { keys: [1, 2] }]);
    return answers.map((answer, i) => ({ node: `n${i}`, answer }));
  },
});

test("figures of nodes are added up by key", async () => {
  const system = nodes([activity(1, 2)], [activity(1, 3), activity(2, 1)], null);
  const found = await keyActivity(system, [1, 2].map(keyId));
  expect([...found].map(([key, { failures }]) => [key, failures])).toEqual([
    [keyId(1), 5],
    [keyId(2), 1],
  ]);
});

test.each<[string, unknown]>([
  ["a reply that was too large", { ok: false, code: "too_large" }],
  ["rows that are none", [null, 5, {}]],
  ["minutes that are too few", [{ ...activity(1, 9), perMinute: [1] }]],
  [
    "durations that are no counts",
    [{ ...activity(1, 9), durations: noActivity(keyId(1)).durations.map(() => -1) }],
  ],
  ["a figure that is no number", [{ ...activity(1, 9), failures: "9" }]],
])("of another node %s counts nothing", async (_what, answer) => {
  const found = await keyActivity(nodes([activity(1, 2)], answer), [1, 2].map(keyId));
  expect(found.get(keyId(1))?.failures).toBe(2);
  expect(found.size).toBe(1);
});

test("a node answers of the keys that it is asked for", () => {
  const answer = keyActivityAnswer((keys) => keys.map((key) => activity(key, 1)));
  expect(answer({ keys: [3] })).toEqual([activity(3, 1)]);
});
