// What a provider keeps for an account is reached through the key that made it, by that account alone: what a response
// refers to, and responses read again or deleted. The stand-in knows which key made what, and refuses every other.

import { describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { startService } from "../../src/node/service.ts";
import { readSettings } from "../../src/settings/settings.ts";
import {
  type Account,
  type Answer,
  type Bench,
  callsTo,
  charges,
  type Json,
  MODEL,
  type Owner,
  PRICING,
  startBench,
  until,
} from "./harness.ts";
import { watch } from "./harness-keys.ts";
import { useBench } from "./use-bench.ts";

const bench = useBench();

/** An Owner with two keys, whose turns come by turns, and two accounts below it. */
async function createAccounts(given: Parameters<Bench["owner"]>[0] = {}) {
  const owner = await bench.owner({ keys: 2, ...given });
  return { owner, user: await bench.subaccount(owner), other: await bench.subaccount(owner) };
}

const respond = (user: Account, more: object = {}, headers: Record<string, string> = {}): Promise<Answer> =>
  bench.call(
    user.key,
    "POST",
    "/v1/responses",
    { model: MODEL, input: "say it [[output=3]]", max_output_tokens: 20, ...more },
    { headers },
  );

/** A response that is there, and the place of its key. */
async function made(owner: Owner, user: Account, more: object = {}): Promise<{ body: Json; place: string }> {
  const seen = watch(bench);
  const answer = await respond(user, more);
  if (answer.status !== 200) throw new Error(answer.text);
  return { body: answer.body, place: seen.order(...owner.keys) };
}

/** Creates an Owner with an account, and a stored response of the account. */
async function kept(given: Parameters<Bench["owner"]>[0] = {}, more: object = {}) {
  const accounts = await createAccounts(given);
  const { body, place } = await made(accounts.owner, accounts.user, more);
  return { ...accounts, body, place, key: accounts.owner.keys[Number(place) - 1]! };
}

const NOT_FOUND = "400 previous_response_not_found";
const outcomeOf = ({ status, body }: Answer): string => `${status} ${body?.error?.code ?? "ok"}`;
const at = (id: string, behind = ""): string => `/v1/responses/${id}${behind}`;

describe("a request that refers to what was made", () => {
  test("is charged for what it refers to, where the provider gives no figures", async () => {
    const { user, body } = await kept({}, { input: "say it [[prompt=5000 output=3]]" });
    const more = { input: "and more [[usage=none output=3]]", previous_response_id: body.id };
    expect((await respond(user, more)).status).toBe(200);
    const line = charges(await bench.ledger(user.key)).at(-1);
    expect(line).toMatchObject({ basis: "estimate", completion_tokens: 3 });
    expect(line.prompt_tokens).toBeWithin(5_004, 5_040);
  });

  const REFERRING: readonly (readonly [string, (made: Json) => object])[] = [
    ["previous_response_id", ({ id }) => ({ previous_response_id: id })],
    [
      "an item_reference",
      ({ output }) => ({
        input: [
          { type: "item_reference", id: output[0].id },
          { role: "user", content: "on [[output=2]]" },
        ],
      }),
    ],
  ];

  test.each(REFERRING)("by %s goes to the key that made it, whichever is next", async (_, referring) => {
    const { owner, user, body, place } = await kept();
    const seen = watch(bench);
    for (let i = 0; i < 4; i++) expect(outcomeOf(await respond(user, referring(body)))).toBe("200 ok");
    expect(seen.order(...owner.keys)).toBe(Array(4).fill(place).join(" "));
  });

  test.each(REFERRING)("by %s is of another account refused, and never sent", async (param, referring) => {
    const { other, body } = await kept();
    const seen = watch(bench);
    const answer = await respond(other, referring(body));
    expect(outcomeOf(answer)).toBe(NOT_FOUND);
    expect(answer.body.error).toMatchObject({
      type: "invalid_request_error",
      param: param === "an item_reference" ? "input" : param,
    });
    expect(seen.calls()).toEqual([]);
    expect(charges(await bench.ledger(other.key))).toEqual([]);
  });

  /** A turn that sends the output of another one back, as SDKs do, and an item of large text. */
  const going = (items: readonly Json[], text = "on") => ({
    input: [...items, { role: "user", content: `${text} [[output=2]]` }],
  });
  const reasoned = () => kept({}, { input: "say it [[output=3 reasoning=4]]" });
  const thoughtOf = ({ output }: Json): Json => output.find(({ type }: Json) => type === "reasoning");
  const sentOf = (seen: ReturnType<typeof watch>): string[][] =>
    seen.calls().map(({ body }) => ((body as Json).input as Json[]).map(({ type, role }) => type ?? role));

  test.each([
    ["small", "on"],
    ["large", "on ".repeat(100_000)],
  ])("by its reasoning finds it at its key, and elsewhere goes on without (%s)", async (_, text) => {
    const { owner, user, body, key } = await reasoned();
    const seen = watch(bench);
    for (let i = 0; i < 2; i++) {
      expect(outcomeOf(await respond(user, going([thoughtOf(body)], text)))).toBe("200 ok");
    }
    expect(seen.calls().some(({ key: by }) => key.secret.endsWith(by))).toBe(true);
    await bench.call(owner.key, "PUT", `/x-keys/${key.id}`, { Status: false });
    const later = watch(bench);
    expect(outcomeOf(await respond(user, going([thoughtOf(body)], text)))).toBe("200 ok");
    expect(sentOf(later)).toEqual([["reasoning", "user"], ["user"]]);
  });

  test.each([
    ["small", "on"],
    ["large", "on ".repeat(100_000)],
  ])("by the reasoning of another account goes on without, and never sends it (%s)", async (_, text) => {
    const { other, body } = await reasoned();
    const seen = watch(bench);
    const own = { type: "message", role: "assistant", content: "well" };
    expect(outcomeOf(await respond(other, going([thoughtOf(body), own], text)))).toBe("200 ok");
    expect(sentOf(seen)).toEqual([["message", "user"]]);
  });

  test("by an image of another account is refused, and never sent", async () => {
    const { other } = await kept();
    const seen = watch(bench);
    const answer = await respond(other, going([{ type: "image_generation_call", id: "ig_of_somebody" }]));
    expect(outcomeOf(answer)).toBe(NOT_FOUND);
    expect(answer.body.error.param).toBe("input");
    expect(seen.calls()).toEqual([]);
  });

  test.each([
    ["previous_response_id", { previous_response_id: "resp_nobody" }, "previous_response_id"],
    ["conversation", { conversation: "conv_nobody" }, "conversation"],
    ["conversation object", { conversation: { id: "conv_nobody" } }, "conversation"],
    ["item_reference", { input: [{ type: "item_reference", id: "msg_nobody" }] }, "input"],
    ["an id longer than any", { previous_response_id: "r".repeat(5_000) }, "previous_response_id"],
    ["half a character", { previous_response_id: "resp_\ud800" }, "previous_response_id"],
  ])("that nobody knows is refused, and never sent: %s", async (_, more, param) => {
    const { user } = await createAccounts();
    const seen = watch(bench);
    const answer = await respond(user, more);
    expect(outcomeOf(answer)).toBe(NOT_FOUND);
    expect(answer.body.error.param).toBe(param);
    expect(answer.body.error.message.length).toBeLessThan(200);
    expect(seen.calls()).toEqual([]);
  });

  test.each(REFERRING)("by %s is held for what the provider reads with it, too", async (_, referring) => {
    const { user, body } = await kept({}, { input: `${"a word ".repeat(1_000)}[[output=3]]` });
    const tokens = body.usage.total_tokens;
    const weigh = async (given: object): Promise<number> => {
      const asked = {
        path: "/v1/responses",
        body: { model: MODEL, input: "on", max_output_tokens: 20, ...given },
      };
      return (await bench.call(user.key, "POST", "/v1/quote", asked)).body.estimated.prompt_tokens;
    };
    const referred = referring(body);
    const unreferred = JSON.parse(
      JSON.stringify(referred).replaceAll(/"previous_response_id":"[^"]*"/g, '"user":"u"'),
    );
    const alone = "input" in referred ? { input: [(referred.input as Json[])[1]] } : unreferred;
    expect(tokens).toBeGreaterThan(1_000);
    expect(await weigh(referred)).toBeGreaterThanOrEqual((await weigh(alone)) + tokens);
  });

  test("the answer of a stream is found as well, and each answer can be referred to in turn", async () => {
    const { owner, user } = await createAccounts();
    const seen = watch(bench);
    const stream = await respond(user, { stream: true });
    const [, id] = /"id":"(resp_\w+)"/.exec(stream.text)!;
    const second = await respond(user, { previous_response_id: id, stream: true });
    const [, next] = /"id":"(resp_\w+)"/.exec(second.text)!;
    const third = await respond(user, { previous_response_id: next });
    expect([stream.status, second.status, third.status]).toEqual([200, 200, 200]);
    expect(new Set(seen.order(...owner.keys).split(" ")).size).toBe(1);
  });

  test("a stream that was cut can be looked up by what it began with", async () => {
    const { owner, user } = await createAccounts({ keys: 1 });
    const stream = await respond(user, { stream: true, input: "[[output=20 fault=cut after=8]]" });
    expect(stream.text).toContain("event: error");
    const [, id] = /"id":"(resp_\w+)"/.exec(stream.text)!;
    expect(outcomeOf(await bench.call(user.key, "GET", at(id!)))).toBe("200 ok");
    expect(owner.keys.length).toBe(1);
  });

  test("store: false leaves nothing to refer to", async () => {
    const { user, body } = await kept({}, { store: false });
    const seen = watch(bench);
    expect(outcomeOf(await respond(user, { previous_response_id: body.id }))).toBe(NOT_FOUND);
    expect(outcomeOf(await bench.call(user.key, "GET", at(body.id)))).toBe("404 not_found");
    expect(seen.calls()).toEqual([]);
  });

  test("of two keys at once is refused, since neither has both", async () => {
    const { owner, user } = await createAccounts();
    const [one, two] = [await made(owner, user), await made(owner, user)];
    expect(one.place).not.toBe(two.place);
    const seen = watch(bench);
    const input = [
      { type: "item_reference", id: one.body.output[0].id },
      { role: "user", content: "on" },
    ];
    const answer = await respond(user, { previous_response_id: two.body.id, input });
    expect(outcomeOf(answer)).toBe(NOT_FOUND);
    expect(answer.body.error.param).toBe("previous_response_id");
    expect(seen.calls()).toEqual([]);
  });

  test("more references than anybody needs are refused before they are looked for", async () => {
    const { user } = await createAccounts();
    const input = Array.from({ length: 1_001 }, (_, i) => ({ type: "item_reference", id: `msg_${i}` }));
    expect(outcomeOf(await respond(user, { input }))).toBe("400 invalid_parameter");
  });

  test("a wrong key is refused before anything is looked for", async () => {
    const answer = await bench.call("sk-nobody", "POST", "/v1/responses", {
      model: MODEL,
      input: "hi",
      previous_response_id: "resp_nobody",
    });
    expect(outcomeOf(answer)).toBe("401 invalid_api_key");
  });

  test("a conversation that a provider began belongs to the account that began it", async () => {
    const answer = { id: "resp_own", object: "response", status: "completed", output: [], model: MODEL };
    const asked: string[] = [];
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        asked.push(((await request.json()) as Json).conversation ?? "none");
        return Response.json({
          ...answer,
          conversation: { id: "conv_own" },
          usage: { input_tokens: 1, output_tokens: 1 },
        });
      },
    });
    const owner = await bench.owner({ keys: 0 });
    const Provider = `http://127.0.0.1:${server.port}`;
    await bench.call(owner.key, "POST", "/x-keys", { Level: 1, Provider, SecretKey: "sk-begins-talks-0123" });
    const [user, other] = [await bench.subaccount(owner), await bench.subaccount(owner)];
    expect(outcomeOf(await respond(user))).toBe("200 ok");
    expect(outcomeOf(await respond(user, { conversation: "conv_own" }))).toBe("200 ok");
    expect(outcomeOf(await respond(other, { conversation: "conv_own" }))).toBe(NOT_FOUND);
    expect(asked).toEqual(["none", "conv_own"]);
    await server.stop(true);
  });
});

describe("the key that made it, and no other", () => {
  test("a failure is not taken to another key", async () => {
    const { owner, user, body, place, key } = await kept();
    bench.provider.behave(key.secret, "fault=500", 1);
    const seen = watch(bench);
    const answer = await respond(user, { previous_response_id: body.id });
    expect(outcomeOf(answer)).toBe("502 upstream_failed");
    expect(seen.order(...owner.keys)).toBe(place);
    expect(outcomeOf(await respond(user, { previous_response_id: body.id }))).toBe("200 ok");
    expect(charges(await bench.ledger(user.key)).length).toBe(2);
  });

  test("neither to SWITCH_OVER's Level nor to a backup model", async () => {
    const { owner, user } = await createAccounts({
      config: { SWITCH_OVER: "1=2", MODEL_FAILOVER: `${MODEL}=other-model` },
      pricing: { ChatPricing: { "*": { InputText: 1, OutputText: 2 } } },
    });
    await bench.level(owner, 2, 1);
    const { body, place } = await made(owner, user);
    bench.provider.behave(owner.keys[Number(place) - 1]!.secret, "fault=500");
    const seen = watch(bench);
    expect(outcomeOf(await respond(user, { previous_response_id: body.id }))).toBe("502 upstream_failed");
    expect(seen.order(...owner.keys)).toBe(place);
    expect(outcomeOf(await respond(user))).toBe("200 ok");
  });

  test("it answers from the Level of a former switch-over, wherever the model leads now", async () => {
    const { owner, user } = await createAccounts({ keys: 1, config: { SWITCH_OVER: "1=2" } });
    const [backup] = await bench.level(owner, 2, 1);
    bench.provider.behave(owner.keys[0]!.secret, "fault=500", 1);
    const seen = watch(bench);
    const { body } = await respond(user);
    const answer = await respond(user, { previous_response_id: body.id });
    expect(seen.order(owner.keys[0]!, backup!)).toBe("1 2 2");
    expect(answer.headers.get("x-arbor-level")).toBe("2");
  });

  test("a Level that the account may not use any more is refused", async () => {
    const { owner, user } = await createAccounts({ keys: 1, config: { SWITCH_OVER: "1=2" } });
    await bench.level(owner, 2, 1);
    bench.provider.behave(owner.keys[0]!.secret, "fault=500", 1);
    const { body } = await respond(user);
    await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { AllowLevels: "1" });
    expect(outcomeOf(await respond(user, { previous_response_id: body.id }))).toBe("403 level_not_allowed");
  });

  test("while it sleeps it is 503, with the time until it wakes, and another one answers only what is new", async () => {
    const { owner, user, body, key } = await kept();
    const { id } = key;
    bench.provider.behave(key.secret, "fault=401", 1);
    await respond(user, { previous_response_id: body.id });
    for (const answer of [
      await respond(user, { previous_response_id: body.id }),
      await bench.call(user.key, "GET", at(body.id)),
    ]) {
      expect(outcomeOf(answer)).toBe("503 no_available_key");
      expect(answer.body.error.message).toContain("one provider key");
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(60);
    }
    expect(outcomeOf(await respond(user))).toBe("200 ok");
    await bench.call(owner.key, "PUT", `/x-keys/${id}`, { Sleep: false });
    await until(
      "it is awake",
      async () => outcomeOf(await bench.call(user.key, "GET", at(body.id))) === "200 ok",
    );
    expect(outcomeOf(await respond(user, { previous_response_id: body.id }))).toBe("200 ok");
  });

  test("disabled it is 503, without a time", async () => {
    const { owner, user, body, key } = await kept();
    const { id } = key;
    await bench.call(owner.key, "PUT", `/x-keys/${id}`, { Status: false });
    const isOff = async () =>
      outcomeOf(await respond(user, { previous_response_id: body.id })) === "503 no_available_key";
    await until("it is off", isOff);
    const answer = await bench.call(user.key, "GET", at(body.id));
    expect([outcomeOf(answer), answer.headers.get("retry-after")]).toEqual(["503 no_available_key", null]);
  });

  test("deleted it is no more, for what refers to it as for what asks for it", async () => {
    const { owner, user, body, key } = await kept();
    await bench.call(owner.key, "DELETE", `/x-keys/${key.id}`);
    const seen = watch(bench);
    const referring = await respond(user, { previous_response_id: body.id });
    expect([outcomeOf(referring), referring.body.error.param]).toEqual([NOT_FOUND, "previous_response_id"]);
    expect(referring.body.error.message).toContain("is gone");
    for (const answer of [
      await bench.call(user.key, "GET", at(body.id)),
      await bench.call(user.key, "DELETE", at(body.id)),
    ]) {
      expect(outcomeOf(answer)).toBe("404 not_found");
      expect(answer.body.error.message).toContain("is gone");
    }
    expect(seen.calls()).toEqual([]);
  });

  test("moved to another Level it is still the one", async () => {
    const { owner, user, body, place, key } = await kept();
    await bench.call(owner.key, "PUT", `/x-keys/${key.id}`, { Level: 5 });
    const seen = watch(bench);
    await until(
      "it is there",
      async () => outcomeOf(await bench.call(user.key, "GET", at(body.id))) === "200 ok",
    );
    expect(outcomeOf(await respond(user, { previous_response_id: body.id }))).toBe("200 ok");
    expect(new Set(seen.order(...owner.keys).split(" "))).toEqual(new Set([place]));
  });

  test("a provider that asks for a moment is asked once more", async () => {
    const { owner, user, body, place, key } = await kept();
    bench.provider.behave(key.secret, "fault=429 retry=1", 1);
    const seen = watch(bench);
    expect(outcomeOf(await respond(user, { previous_response_id: body.id }))).toBe("200 ok");
    expect(seen.order(...owner.keys)).toBe(`${place} ${place}`);
  });
});

describe("a repeat with its Idempotency-Key", () => {
  test("gets the first answer, though what it refers to is gone", async () => {
    const { user, body } = await kept();
    const name = { "idempotency-key": `talk-${user.id}` };
    const first = await respond(user, { previous_response_id: body.id }, name);
    expect(outcomeOf(await bench.call(user.key, "DELETE", at(body.id)))).toBe("200 ok");
    const again = await respond(user, { previous_response_id: body.id }, name);
    expect(again.text).toBe(first.text);
    expect(outcomeOf(await respond(user, { previous_response_id: body.id }))).toBe(NOT_FOUND);
    expect(charges(await bench.ledger(user.key)).length).toBe(2);
  });
});

describe("GET and DELETE of a response", () => {
  test.each([
    ["AllowLevels", { AllowLevels: "9" }, "403 level_not_allowed"],
    ["AllowModels", { AllowModels: "other" }, "403 model_not_allowed"],
  ])("pass the account's %s, as it is now", async (_, change, refusal) => {
    const { owner, user, body } = await kept();
    await bench.call(owner.key, "PUT", `/x-users/${user.id}`, change);
    for (const method of ["GET", "DELETE"]) {
      expect(outcomeOf(await bench.call(user.key, method, at(body.id)))).toBe(refusal);
    }
    expect(outcomeOf(await respond(user, { previous_response_id: body.id }))).toBe(refusal);
    await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { AllowLevels: "", AllowModels: "*" });
    expect(outcomeOf(await bench.call(user.key, "GET", at(body.id)))).toBe("200 ok");
  });

  test("pass the lists of the named key that asks", async () => {
    const { user, body } = await kept();
    const given = { Name: "narrow", AllowModels: "other-*" };
    const { secret } = (await bench.call(user.key, "POST", "/dashboard/keys", given)).body;
    for (const method of ["GET", "DELETE"]) {
      expect(outcomeOf(await bench.call(secret, method, at(body.id)))).toBe("403 model_not_allowed");
    }
    expect(outcomeOf(await bench.call(user.key, "GET", at(body.id)))).toBe("200 ok");
  });

  test("answer what the provider says, for nothing, and a deleted one is gone", async () => {
    const { owner, user, body, place } = await kept();
    const before = await bench.balance(user.key);
    const seen = watch(bench);
    const read = await bench.call(user.key, "GET", `${at(body.id)}?include[]=message.output_text.logprobs`);
    expect([read.status, read.body]).toEqual([200, body]);
    expect(seen.calls()[0]!.query).toContain("include[]=message.output_text.logprobs");
    const gone = await bench.call(user.key, "DELETE", at(body.id));
    expect([gone.status, gone.body]).toEqual([200, { id: body.id, object: "response", deleted: true }]);
    expect(seen.order(...owner.keys)).toBe(`${place} ${place}`);
    expect(outcomeOf(await bench.call(user.key, "GET", at(body.id)))).toBe("404 not_found");
    expect(seen.calls().length).toBe(2);
    expect(await bench.balance(user.key)).toBe(before);
    expect(await bench.nothingHeld(user.key)).toBe(true);
  });

  test("tell what it was asked with", async () => {
    const { owner, user, body, place } = await kept();
    const seen = watch(bench);
    const items = await bench.call(user.key, "GET", `${at(body.id, "/input_items")}?limit=5&order=asc`);
    expect(items.body.data[0].content).toContain("say it");
    expect(seen.order(...owner.keys)).toBe(place);
  });

  test("are of another account 404, and never sent", async () => {
    const { owner, user, other, body } = await kept();
    const seen = watch(bench);
    for (const method of ["GET", "DELETE"]) {
      expect(outcomeOf(await bench.call(other.key, method, at(body.id)))).toBe("404 not_found");
      expect(outcomeOf(await bench.call(owner.key, method, at(body.id)))).toBe("404 not_found");
    }
    expect(outcomeOf(await bench.call(other.key, "GET", at(body.id, "/input_items")))).toBe("404 not_found");
    expect(seen.calls()).toEqual([]);
    expect(outcomeOf(await bench.call(user.key, "GET", at(body.id)))).toBe("200 ok");
  });

  test("need a key, take it as x-api-key too, and another method is 405", async () => {
    const { user, body } = await kept();
    expect(outcomeOf(await bench.call(null, "GET", at(body.id)))).toBe("401 missing_api_key");
    const byHeader = await bench.call(null, "GET", at(body.id), undefined, {
      headers: { "x-api-key": user.key },
    });
    expect(byHeader.status).toBe(200);
    expect(byHeader.headers.get("x-request-id")).toMatch(/^\w{26}$/);
    const put = await bench.call(user.key, "PUT", at(body.id), {});
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, DELETE"]);
  });

  test("count as requests", async () => {
    const { owner, user, body } = await kept();
    await bench.call(owner.key, "PUT", `/x-users/${user.id}`, { RPM: 3 });
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(outcomeOf(await bench.call(user.key, "GET", at(body.id))));
    expect(answers).toEqual(["200 ok", "200 ok", "429 rpm_exceeded"]);
  });

  test.each([
    ["suspended", { Suspended: true }, "403 account_suspended"],
    ["disabled", { Status: false }, "403 account_disabled"],
    ["kept from the path", { Resources: "/v1/chat/completions" }, "403 path_not_allowed"],
  ])("are refused to an account that is %s", async (_, change, refusal) => {
    const { owner, user, body } = await kept();
    const { status } = await bench.call(owner.key, "PUT", `/x-users/${user.id}`, change);
    expect(status).toBe(200);
    expect(outcomeOf(await bench.call(user.key, "GET", at(body.id)))).toBe(refusal);
  });

  test("a provider's failure is answered like that of a request, and the response stays", async () => {
    const { user, body, key } = await kept();
    const { secret } = key;
    const outcomeWith = async (script: string, method: string) => {
      bench.provider.behave(secret, script, 1);
      return outcomeOf(await bench.call(user.key, method, at(body.id)));
    };
    expect(await outcomeWith("fault=500", "GET")).toBe("502 upstream_failed");
    expect(await outcomeWith("fault=garbage", "GET")).toBe("502 upstream_failed");
    expect(await outcomeWith("fault=503", "DELETE")).toBe("503 no_available_key");
    expect(await outcomeWith("fault=429 retry=7", "GET")).toBe("429 upstream_rate_limited");
    expect(outcomeOf(await bench.call(user.key, "GET", at(body.id)))).toBe("200 ok");
  });

  test("what the provider has lost is 404", async () => {
    const { user, body } = await kept();
    bench.provider.reset();
    for (const method of ["GET", "DELETE"]) {
      expect(outcomeOf(await bench.call(user.key, method, at(body.id)))).toBe("404 not_found");
    }
    expect(outcomeOf(await respond(user))).toBe("200 ok");
  });

  test("what the provider has lost is, to what refers to it, the provider's own error, and no other key is asked", async () => {
    const { owner, user, body, place } = await kept();
    bench.provider.reset();
    const seen = watch(bench);
    const answer = await respond(user, { previous_response_id: body.id });
    expect([outcomeOf(answer), answer.body.error.param]).toEqual([NOT_FOUND, "previous_response_id"]);
    expect(seen.order(...owner.keys)).toBe(place);
  });

  test("a stream of one is refused: it is for responses made in the background", async () => {
    const { user, body } = await kept();
    expect(outcomeOf(await bench.call(user.key, "GET", `${at(body.id)}?stream=true`))).toBe(
      "400 invalid_parameter",
    );
  });

  test("after thirty days nothing is known of it", async () => {
    const own = await startBench();
    const owner = await own.owner();
    const user = await own.subaccount(owner, { Days: 365 });
    const { body } = await own.call(user.key, "POST", "/v1/responses", { model: MODEL, input: "hi" });
    own.moveClock(29 * 86_400_000);
    expect(outcomeOf(await own.call(user.key, "GET", at(body.id)))).toBe("200 ok");
    own.moveClock(1 * 86_400_000);
    expect(outcomeOf(await own.call(user.key, "GET", at(body.id)))).toBe("404 not_found");
    await own.close();
  });

  test("the official client chains, retrieves and deletes", async () => {
    const { user } = await createAccounts();
    const client = new OpenAI({ baseURL: `${bench.url}/v1`, apiKey: user.key, maxRetries: 0 });
    const first = await client.responses.create({ model: MODEL, input: "Hi" });
    const second = await client.responses.create({
      model: MODEL,
      input: "On",
      previous_response_id: first.id,
    });
    expect((await client.responses.retrieve(second.id)).previous_response_id).toBe(first.id);
    await client.responses.delete(first.id);
    const lost = { model: MODEL, input: "On", previous_response_id: first.id };
    const thrown = await client.responses.create(lost).catch((error) => error);
    expect(thrown).toBeInstanceOf(OpenAI.BadRequestError);
    expect([thrown.code, thrown.param]).toEqual(["previous_response_not_found", "previous_response_id"]);
    expect(await client.responses.retrieve(first.id).catch((error: Error) => error)).toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });
});

test.each([false, true])(
  "a deployment's name is in no answer, neither now nor later (stream: %p)",
  async (stream) => {
    const owner = await bench.owner({ keys: 0, pricing: PRICING });
    const config = { provider_type: "cloud_a", model_mapping: { [MODEL]: "dep-hidden" } };
    await bench.level(owner, 1, 1, { Config: config });
    const answer = await respond(owner, { stream });
    expect(answer.text).toContain(`"model":"${MODEL}"`);
    const later = await bench.call(owner.key, "GET", at(/resp_\w+/.exec(answer.text)![0]));
    expect([later.status, later.body.model]).toEqual([200, MODEL]);
    expect(answer.text + later.text).not.toContain("dep-hidden");
  },
);

test("a restart forgets none of it", async () => {
  const first = await startBench();
  const owner = await first.owner({ keys: 2, pricing: PRICING });
  const user = await first.subaccount(owner);
  const { body } = await first.call(user.key, "POST", "/v1/responses", { model: MODEL, input: "hi" });
  const by = first.provider.calls().at(-1)!.key;
  await first.service.stop();
  const settings = readSettings(
    {
      PORT: "0",
      STORE_URL: `sqlite:${first.directory}/bench.db`,
      SPOOL_DIR: `${first.directory}/spool`,
      PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
    },
    false,
  );
  const second = await startService(settings, () => {});
  const { call } = callsTo(() => second.url);
  for (let i = 0; i < 3; i++) {
    const answer = await call(user.key, "POST", "/v1/responses", {
      model: MODEL,
      input: "on",
      previous_response_id: body.id,
    });
    expect(outcomeOf(answer)).toBe("200 ok");
    expect(first.provider.calls().at(-1)!.key).toBe(by);
  }
  expect(outcomeOf(await call(user.key, "GET", at(body.id)))).toBe("200 ok");
  await second.stop();
  await first.close();
});
