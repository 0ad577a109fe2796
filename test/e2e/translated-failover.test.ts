// Keys of both styles in one Level: they take turns whatever they speak, stand in for each other inside one request, and a
// request that only one style has words for stays with it. And clients that go while an answer is translated.

import { describe, expect, test } from "bun:test";
import type { ApiStyle } from "../../src/gateway/codec/key-formats.ts";
import {
  type Account,
  asking,
  charges,
  fresh,
  type Json,
  nano,
  type Owner,
  type UpstreamKey,
  until,
} from "./harness.ts";
import { ask, fares, fateOf, watch } from "./harness-keys.ts";
import { leave } from "./leaving.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench();

const STYLES = ["chat", "messages"] as const;
const OTHER: Readonly<Record<ApiStyle, ApiStyle>> = { chat: "messages", messages: "chat" };
const PATHS: Readonly<Record<ApiStyle, string>> = { chat: "/v1/chat/completions", messages: "/v1/messages" };

interface TestAccounts {
  readonly owner: Owner;
  readonly user: Account;
  readonly keys: readonly UpstreamKey[];
}

/** A Level of keys in the given styles; the first is tried first. */
async function createAccounts(...styles: readonly ApiStyle[]): Promise<TestAccounts> {
  const owner = await bench.owner({ keys: 0 });
  const keys: UpstreamKey[] = [];
  for (const api_style of styles) keys.push(...(await bench.level(owner, 1, 1, { Config: { api_style } })));
  return { owner, user: await bench.subaccount(owner), keys };
}

const chargesOf = async ({ user }: TestAccounts): Promise<Json[]> => charges(await bench.ledger(user.key));

test("keys take turns whatever they speak", async () => {
  for (const style of STYLES) {
    const { user, keys } = await createAccounts("chat", "messages", "chat");
    const seen = watch(bench);
    for (let i = 0; i < 6; i++) expect((await ask(bench, user, { style })).result).toBe("200");
    expect(seen.order(...keys)).toBe("1 2 3 1 2 3");
    expect(seen.calls().map(({ path }) => path)).toEqual(
      ["chat", "messages", "chat", "chat", "messages", "chat"].map((one) => PATHS[one as ApiStyle]),
    );
  }
});

describe("inside one request", () => {
  const FAULTS: readonly (readonly [fault: string, stream: boolean])[] = [
    ["500", false],
    ["500", true],
    ["cut after=1", true],
    ["error_event after=1", true],
    ["garbage after=0", true],
    ["cut", false],
  ];
  for (const style of STYLES)
    for (const first of STYLES)
      test.each(FAULTS)(
        `a ${style} client of a ${first} key that fails (%s, streamed: %p) is answered by one of the other style`,
        async (fault, stream) => {
          const { owner, user, keys } = await createAccounts(first, OTHER[first]);
          bench.provider.behave(keys[0]!.secret, `fault=${fault}`);
          const seen = watch(bench);
          const answer = await ask(bench, user, { style, stream, said: "say it [[output=5]]" });
          expect([answer.result, answer.attempts, seen.order(...keys)]).toEqual(["200", 2, "1 2"]);
          const calls = seen.calls();
          expect(calls.map(({ path }) => path)).toEqual([PATHS[first], PATHS[OTHER[first]]]);
          // Each was asked in its own words.
          expect(calls.map(({ headers }) => "anthropic-version" in headers)).toEqual([
            first === "messages",
            first === "chat",
          ]);
          const lines = charges(await bench.ledger(user.key));
          expect(lines).toMatchObject([{ basis: "provider", completion_tokens: 5 }]);
          expect(nano(await bench.balance(user.key))).toBe(nano(10) + nano(lines[0].amount));
          await fares(bench, owner, keys[0]!, "normal", { style });
        },
      );

  test("a limited key of the other style is waited for like any other", async () => {
    const { user, keys } = await createAccounts("messages");
    bench.provider.behave(keys[0]!.secret, "fault=429 retry_ms=300", 1);
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 2 });
  });

  test("a key of the other style that keeps failing sleeps, for clients of both", async () => {
    const { owner, user, keys } = await createAccounts("messages");
    bench.provider.behave(keys[0]!.secret, "fault=500");
    for (let i = 0; i < 3; i++) expect((await ask(bench, user)).result).toBe("502 upstream_failed");
    await fares(bench, owner, keys[0]!, "sleeping 5 min");
    expect(await fateOf(bench, owner, keys[0]!, { style: "messages" })).toBe("sleeping 5 min");
  });
});

/** What only the client's own style has words for, and the field that says so. */
const UNTRANSLATABLE: readonly (readonly [what: string, style: ApiStyle, more: object, field: string])[] = [
  ["several choices", "chat", { n: 2 }, "n"],
  [
    "sound",
    "chat",
    {
      messages: [
        { role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] },
      ],
    },
    "messages.0.content.0",
  ],
  [
    "a tool without a schema",
    "chat",
    { tools: [{ type: "custom", custom: { name: "free" } }], tool_choice: "required" },
    "tools",
  ],
  [
    "a file at the maker's",
    "messages",
    { messages: [{ role: "user", content: [{ type: "image", source: { type: "file", file_id: "f" } }] }] },
    "messages.0.content.0.source",
  ],
];

describe("a request that cannot be translated", () => {
  for (const stream of [false, true])
    test.each(UNTRANSLATABLE)(
      `is refused with its field (streamed: ${stream}): %s`,
      async (_, style, more, field) => {
        const { owner, user, keys } = await createAccounts(OTHER[style], OTHER[style]);
        const seen = watch(bench);
        const { result, attempts, body } = await ask(bench, user, { style, stream, more });
        expect([result, attempts]).toEqual(["400 invalid_parameter", 0]);
        expect(body.error.message).toStartWith(field);
        expect(seen.calls()).toEqual([]);
        expect(charges(await bench.ledger(user.key))).toEqual([]);
        for (const key of keys) expect(await fateOf(bench, owner, key)).toBe("normal");
        expect(await bench.nothingHeld(user.key)).toBe(true);
      },
    );

  test.each(UNTRANSLATABLE)(
    "is answered by a key of its own style, however many others come first: %s",
    async (...row) => {
      const [, style, more] = row;
      const other = OTHER[style];
      const { owner, user, keys } = await createAccounts(other, other, other, other, style);
      // A file of the account needs leave besides.
      const config = { Config: { allow_provider_objects: true } };
      for (const { id } of keys) await bench.call(owner.key, "PUT", `/x-keys/${id}`, config);
      const seen = watch(bench);
      // The stand-in may know better than to answer such a request: what counts is who was asked.
      await ask(bench, user, { style, more });
      expect(seen.order(...keys)).toBe("5");
    },
  );

  test("goes to a backup Level that has its style", async () => {
    const { owner, user } = await createAccounts("messages");
    await bench.level(owner, 2, 1);
    await bench.call(owner.key, "PUT", "/x-config", { SWITCH_OVER: "1=2" });
    expect(await ask(bench, user, { more: { n: 2 } })).toMatchObject({
      result: "200",
      attempts: 1,
      level: 2,
    });
  });

  test("waits for a key of its own style that will be back, and fails as that one does", async () => {
    const one = await createAccounts("messages", "chat");
    bench.provider.behave(one.keys[1]!.secret, "fault=500");
    expect((await ask(bench, one.user, { more: { n: 2 } })).result).toBe("502 upstream_failed");
    bench.provider.behave(one.keys[1]!.secret, "fault=429 retry=40");
    expect((await ask(bench, one.user, { more: { n: 2 } })).result).toBe("429 upstream_rate_limited");
    expect(await ask(bench, one.user, { more: { n: 2 } })).toMatchObject({
      result: "429 upstream_rate_limited",
      attempts: 0,
    });
    // What has words in both styles has a key all the while.
    expect((await ask(bench, one.user)).result).toBe("200");
  });

  test("leaves a key that wakes its probe", async () => {
    const { owner, user, keys } = await createAccounts("messages");
    bench.provider.behave(keys[0]!.secret, "fault=500");
    for (let i = 0; i < 3; i++) await ask(bench, user);
    await fares(bench, owner, keys[0]!, "sleeping 5 min");
    bench.provider.behave(keys[0]!.secret, null);
    bench.moveClock(6 * 60_000);
    expect((await ask(bench, user, { more: { n: 2 } })).result).toBe("400 invalid_parameter");
    await fares(bench, owner, keys[0]!, "waking");
    expect(await ask(bench, user)).toMatchObject({ result: "200", attempts: 1 });
    await fares(bench, owner, keys[0]!, "normal");
  });
});

describe("a client that goes", () => {
  const callsOf = (mark: string) =>
    bench.provider.calls().filter((call) => JSON.stringify(call.body).includes(mark));

  async function left(
    accounts: TestAccounts,
    style: ApiStyle,
    script: string,
    when: (bytes: number) => boolean,
  ) {
    const mark = `gone-${fresh()}`;
    const asked = { path: PATHS[style], more: { max_tokens: 500 } };
    const isTime = (bytes: number) => callsOf(mark).length > 0 && when(bytes);
    await leave(bench, accounts.user.key, `${mark} [[${script}]]`, true, isTime, asked);
    await until("the call is aborted", () => callsOf(mark)[0]!.aborted);
    return callsOf(mark)[0]!;
  }

  test.each(STYLES)("%s: before content pays nothing", async (style) => {
    const mine = await createAccounts(OTHER[style]);
    await left(mine, style, "output=20 fault=stall after=1", () => true);
    expect(await chargesOf(mine)).toEqual([]);
    await until("nothing is held", () => bench.nothingHeld(mine.user.key));
  });

  test.each(STYLES)("%s: after content pays for what there was, marked partial", async (style) => {
    const mine = await createAccounts(OTHER[style]);
    const call = await left(mine, style, "output=400 chunk_ms=5", (bytes) => bytes > 4_000);
    await until("it is charged", async () => (await chargesOf(mine)).length === 1);
    const [line] = await chargesOf(mine);
    const generated = call.usage!.completion;
    expect(line).toMatchObject({ basis: "partial", stream: true });
    expect(line.completion_tokens).toBeWithin(Math.max(1, generated - 30), generated + 10);
    expect(nano(line.amount)).toBe(-(line.prompt_tokens * 1_000 + line.completion_tokens * 2_000));
    await until("nothing is held", () => bench.nothingHeld(mine.user.key));
  });
});

test("what may be called, and what explains it, counts keys of either style", async () => {
  const { owner, user, keys } = await createAccounts("messages");
  expect(await fateOf(bench, owner, keys[0]!)).toBe("normal");
  expect(await fateOf(bench, owner, keys[0]!, { style: "messages" })).toBe("normal");
  const { body } = await bench.call(user.key, "GET", "/v1/models/bench-model");
  expect(body.id).toBe("bench-model");
  const explained = `/dashboard/explain?model=bench-model&path=/v1/embeddings`;
  const found = (await bench.call(owner.key, "GET", explained)).body;
  expect(found.candidates[0]).toMatchObject({ state: "other_style" });
  expect(found.candidates[0].reason).toContain("not translated");
});

test("a quote knows what cannot be translated, and where it could go instead", async () => {
  const { owner, user } = await createAccounts("messages");
  const quote = (more: object) =>
    bench.call(user.key, "POST", "/v1/quote", { path: PATHS.chat, body: { ...asking("hi"), ...more } });
  expect((await quote({})).body).toMatchObject({ admitted: true, refusal: null });
  const refusal = { code: "invalid_parameter", message: expect.stringMatching(/^n must be 1/) };
  expect((await quote({ n: 2 })).body).toMatchObject({ admitted: false, refusal });
  await bench.level(owner, 1, 1);
  expect((await quote({ n: 2 })).body).toMatchObject({ admitted: true, refusal: null });
});
