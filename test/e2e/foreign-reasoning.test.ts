// A conversation at /v1/responses that moves to a key of another organization, which cannot read the encrypted reasoning of the
// turns before: it goes on without that reasoning, at the same key, and is charged once.

import { describe, expect, test } from "bun:test";
import { charges, type Json, MODEL } from "./harness.ts";
import { fares, type TestAccounts, watch } from "./harness-keys.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench({ settings: { KEY_FAILURES: "3" } });

/** An Owner with a key for each organization, and an account below it. */
async function createAccounts(...organizations: readonly string[]): Promise<TestAccounts> {
  const owner = await bench.owner({ keys: organizations.length });
  for (const [nth, organization] of organizations.entries()) {
    await bench.call(owner.key, "PUT", `/x-keys/${owner.keys[nth]!.id}`, { Config: { responses: true } });
    bench.provider.behave(owner.secrets[nth]!, `organization=${organization}`);
  }
  return { owner, user: await bench.subaccount(owner) };
}

const asked = (input: unknown, more: object = {}) => ({
  ...{ model: MODEL, input, store: false, include: ["reasoning.encrypted_content"] },
  ...{ max_output_tokens: 50, ...more },
});
const said = (text: string) => ({ role: "user", content: `${text} [[reasoning=4 output=9]]` });
const post = ({ user }: TestAccounts, body: object) => bench.call(user.key, "POST", "/v1/responses", body);
const typesOf = (call: { readonly body: unknown }): string[] =>
  (call.body as Json).input.map(({ type, role }: Json) => type ?? role);

/** The input of a second turn, whose first one was answered by the first key. Keys take turns, so that the other one is next. */
async function secondTurn(accounts: TestAccounts, first = said("hello")): Promise<Json[]> {
  const { body } = await post(accounts, asked([first]));
  expect(body.output.map(({ type }: Json) => type)).toEqual(["reasoning", "message"]);
  expect(body.output[0].encrypted_content).toBe("gAAAAAnorth");
  return [first, ...body.output, said("and now?")];
}

describe("a conversation that moves to a key of another organization", () => {
  test.each([false, true])("goes on there without its reasoning (streamed: %p)", async (stream) => {
    const accounts = await createAccounts("north", "south");
    const { owner, user } = accounts;
    const input = await secondTurn(accounts);
    const seen = watch(bench);
    const answer = await post(accounts, asked(input, { stream }));
    expect([answer.status, answer.headers.get("x-arbor-attempts")]).toEqual([200, "2"]);
    expect(seen.order(...owner.keys)).toBe("2 2");
    const [refused, answered] = seen.calls();
    expect(refused!.status).toBe(400);
    expect([refused, answered].map((call) => typesOf(call!))).toEqual([
      ["user", "reasoning", "message", "user"],
      ["user", "message", "user"],
    ]);
    expect(charges(await bench.ledger(user.key))).toHaveLength(2);
    const id = answer.headers.get("x-request-id")!;
    const { body } = await bench.call(owner.key, "GET", `/x-explain?user=${user.id}&request=${id}`);
    expect(body.attempts.map(({ signal }: Json) => signal)).toEqual(["foreign_reasoning", "ok"]);
    await fares(bench, owner, owner.keys[1]!, "normal");
  });

  test("keeps going turn after turn, with reasoning of both", async () => {
    const accounts = await createAccounts("north", "south");
    const input = await secondTurn(accounts);
    const second = await post(accounts, asked(input));
    const own = second.body.output[0];
    expect(own).toMatchObject({ type: "reasoning", encrypted_content: "gAAAAAsouth" });
    const seen = watch(bench);
    const third = await post(accounts, asked([...input, ...second.body.output, said("go on")]));
    expect(third.status).toBe(200);
    expect(typesOf(seen.calls().at(-1)!)).toEqual(["user", "message", "user", "message", "user"]);
  });

  test("does so with a body that a worker has read", async () => {
    const accounts = await createAccounts("north", "south");
    const input = await secondTurn(accounts, said("word ".repeat(80_000)));
    const seen = watch(bench);
    const answer = await post(accounts, asked(input));
    expect([answer.status, answer.headers.get("x-arbor-attempts")]).toEqual([200, "2"]);
    expect(typesOf(seen.calls().at(-1)!)).toEqual(["user", "message", "user"]);
    expect((seen.calls().at(-1)!.body as Json).input[0].content).toHaveLength(input[0].content.length);
  });
});

test("the provider's error reaches the client when it refuses the rest as well, after one more attempt", async () => {
  const accounts = await createAccounts("north", "south");
  const message = "The encrypted content gAAA...orth could not be verified.";
  const error = { message, type: "invalid_request_error", param: null, code: "invalid_encrypted_content" };
  const bodies: Json[] = [];
  const host = Bun.serve({
    ...{ port: 0, hostname: "127.0.0.1" },
    async fetch(request) {
      bodies.push(await request.json());
      return Response.json({ error }, { status: 400 });
    },
  });
  try {
    const { owner, user } = accounts;
    const Provider = `http://127.0.0.1:${host.port}/v1`;
    for (const { id } of owner.keys) await bench.call(owner.key, "PUT", `/x-keys/${id}`, { Provider });
    const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAAAnorth" };
    const compaction = { type: "compaction", encrypted_content: "gAAAAAnorth" };
    const answer = await post(accounts, asked([said("hello"), reasoning, compaction]));
    expect([answer.status, answer.body.error.code, answer.body.error.message]).toEqual([
      400,
      "invalid_encrypted_content",
      message,
    ]);
    expect(bodies.map((body) => typesOf({ body }))).toEqual([
      ["user", "reasoning", "compaction"],
      ["user", "compaction"],
    ]);
    expect(charges(await bench.ledger(user.key))).toBeEmpty();
  } finally {
    await host.stop(true);
  }
});
