// `x-arbor-tags` end to end: on every path that a provider answers, they stand in the ledger, in an explanation and in an
// export, no provider sees them, and what is no list of tags is refused before anything is sent.

import { expect, test } from "bun:test";
import { actorRef } from "../../actors/index.ts";
import { realClock } from "../../src/base/clock.ts";
import { exportLines, FORMATS } from "../../src/report/ledger-export.ts";
import { actorName } from "../../src/runtime/actor.ts";
import { openStore } from "../../src/store/open.ts";
import { fresh, type Json, PRICING } from "./harness.ts";
import { GOOD, OWN_PRICES } from "./surfaces-bodies.ts";
import { expectError, prepared, useBench } from "./use-bench.ts";

const bench = useBench({ settings: { KEY_FAILURES: "1000" } });
const owner = prepared(() => bench.owner({ pricing: { ...PRICING, ...OWN_PRICES } }));
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 100 }));

function send(path: string, body: object | FormData, headers: Record<string, string>) {
  const isForm = body instanceof FormData;
  const type: Record<string, string> = isForm ? {} : { "content-type": "application/json" };
  return fetch(bench.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${user.key}`, ...type, ...headers },
    body: isForm ? body : JSON.stringify(body),
  });
}

/** The newest commit's charge of the account, as its ledger has it. */
async function lastCharge(): Promise<Json> {
  const store = await openStore(`sqlite:${bench.directory}/bench.db`, { clock: realClock(), readOnly: true });
  try {
    const actor = actorName(actorRef.account(user.id as never));
    const { linesTo } = (await store.lastCommit(actor))!;
    const [commit] = await store.readLines(actor, linesTo, linesTo);
    return commit!.events.findLast(({ line }) => line)!.e;
  } finally {
    await store.close();
  }
}

const explained = async (request: string): Promise<Json> =>
  (await bench.call(user.key, "GET", `/dashboard/explain?request=${request}`)).body.request;

const TAGS = "team=search,__proto__=x,env=prod";
const SENT = JSON.parse('{"team":"search","__proto__":"x","env":"prod"}');

test.each(GOOD.map((good) => [good.path, good] as const))(
  "%s is charged with its tags",
  async (path, good) => {
    const id = `tags-${fresh()}`;
    const answer = await send(path, good.body(good.script), { "x-request-id": id, "x-arbor-tags": TAGS });
    expect([path, answer.status]).toEqual([path, 200]);
    await answer.arrayBuffer();
    expect((await lastCharge()).tags).toEqual(SENT);
    expect((await explained(id)).tags).toEqual(SENT);
    const { headers, path: called, body } = bench.provider.calls().at(-1)!;
    expect(called).toContain(path.slice("/v1".length));
    expect(JSON.stringify([headers, body])).not.toMatch(/x-arbor|team=|search/);
  },
);

test.each(GOOD.map((good) => [good.path, good] as const))(
  "%s refuses what is no tags",
  async (path, good) => {
    const calls = bench.provider.calls().length;
    const answer = await send(path, good.body(good.script), { "x-arbor-tags": "Team=search" });
    expect([answer.status, ((await answer.json()) as Json).error]).toMatchObject([
      400,
      { code: "invalid_parameter", message: expect.stringContaining("x-arbor-tags") },
    ]);
    expect(bench.provider.calls()).toHaveLength(calls);
  },
);

test("a stream and a large body are charged with theirs", async () => {
  for (const more of [{ stream: true }, { user: "u".repeat(400_000) }]) {
    const headers = { "x-arbor-tags": "team=a b" };
    expect((await bench.chat(user.key, "[[output=3]]", more, { headers })).status).toBe(200);
    expect((await lastCharge()).tags).toEqual({ team: "a b" });
  }
});

test.each([["/v1/messages/count_tokens"], ["/v1/quote"]])("%s refuses what is no tags too", async (path) => {
  const chat = { model: "gpt-4o-mini", messages: [{ role: "user", content: "Hi" }] };
  const body = path === "/v1/quote" ? { path: "/v1/chat/completions", body: chat } : chat;
  expect((await send(path, body, { "x-arbor-tags": "a=1" })).status).toBe(200);
  expect((await send(path, body, { "x-arbor-tags": "a=1,a=2" })).status).toBe(400);
});

test("the key is judged before the tags, and the tags before the model", async () => {
  const headers = { "x-arbor-tags": "=" };
  const model = "nothing-serves-it";
  expectError(await bench.chat("sk-wrong", "Hi", { model }, { headers }), 401, "invalid_api_key");
  expectError(await bench.chat(user.key, "Hi", { model }, { headers }), 400, "invalid_parameter");
});

test.each([[{}], [{ "x-arbor-tags": "" }], [{ "x-arbor-tags": " " }]])(
  "%j: the charge has no tags",
  async (headers) => {
    const id = `untagged-${fresh()}`;
    await bench.chat(user.key, "[[output=3]]", {}, { headers: { ...headers, "x-request-id": id } });
    expect(Object.keys(await lastCharge())).not.toContain("tags");
    expect(Object.keys(await explained(id))).not.toContain("tags");
  },
);

test("an export has them in one cell, by name", async () => {
  await bench.chat(user.key, "[[output=3]]", {}, { headers: { "x-arbor-tags": "a=1" } });
  await bench.chat(user.key, "[[output=3]]", {}, { headers: { "x-arbor-tags": 'z="1",a=-2' } });
  const store = await openStore(`sqlite:${bench.directory}/bench.db`, { clock: realClock(), readOnly: true });
  try {
    const texts: string[] = [];
    for await (const page of exportLines(store, { from: 0, until: bench.now() + 1 })) {
      for (const line of page) if (line.account === user.id) texts.push(FORMATS.csv.line(line));
    }
    expect(texts.at(-1)).toEndWith(',"a=-2,z=""1"""\n');
    expect(FORMATS.csv.head).toEndWith(",tags\n");
  } finally {
    await store.close();
  }
});
