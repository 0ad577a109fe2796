// Idempotency-Key on administrative writes: the repeat is answered as the first was and changes nothing more; and what a
// crash between the change and the keeping of its answer leaves behind.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AccountId, MAIN_API_KEY } from "../../actors/ids.ts";
import { type CommandId, createAdminIdempotency } from "../../src/http/idempotency.ts";
import { createSecretVault } from "../../src/upstream/secret-vault.ts";
import { type Bench, fresh, type Owner, startBench } from "../e2e/harness.ts";
import { countingRandom, manualClock } from "../runtime/manual-clock.ts";
import { memoryStore } from "../store/memory/memory.ts";
import { keyBody, userBody } from "./bodies.ts";
import { withOnce } from "./once.ts";
import { properError } from "./proper.ts";

describe("through the service", () => {
  let bench: Bench;
  let owner: Owner;
  beforeAll(async () => {
    bench = await startBench();
    owner = await bench.owner();
  });
  afterAll(() => bench.close());

  const named = (key: string, method: string, path: string, body?: unknown, by = owner.key) =>
    bench.call(by, method, path, body, { headers: { "idempotency-key": key } });
  const newUser = () => userBody({ CreditGranted: 3 });
  const newKey = () => keyBody(bench.provider.url, { Level: 5 });

  test("an account is created once, and its key is answered twice", async () => {
    const [key, body, before] = [fresh(), newUser(), await bench.balance(owner.key)];
    const first = await named(key, "POST", "/x-users", body);
    const second = await named(key, "POST", "/x-users", body);
    expect(first.status).toBe(200);
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(await bench.balance(first.body.User.SecretKey)).toBe(3);
    expect(await bench.balance(owner.key)).toBe(before - 3);
  });

  test("two at once: one is done, and both get its answer", async () => {
    const [key, body] = [fresh(), newKey()];
    const [first, second] = await Promise.all([1, 2].map(() => named(key, "POST", "/x-keys", body)));
    expect(first!.status).toBe(200);
    expect(second!.text).toBe(first!.text);
  });

  test("another body, path or method: 400 idempotency_mismatch, and nothing happens", async () => {
    const [key, body] = [fresh(), newKey()];
    const { ID } = (await named(key, "POST", "/x-keys", body)).body.key;
    for (const answer of [
      await named(key, "POST", "/x-keys", { ...body, Level: 6 }),
      await named(key, "POST", `/x-keys/${ID}`, body),
      await named(key, "DELETE", `/x-keys/${ID}`),
    ]) {
      properError(answer, 400, "idempotency_mismatch");
    }
    expect((await bench.call(owner.key, "GET", `/x-keys/${ID}`)).body.key.Level).toBe(5);
  });

  test.each(["GET", "HEAD"])("%s uses no key up", async (method) => {
    const key = fresh();
    expect((await named(key, method, "/x-keys")).status).toBe(200);
    expect((await named(key, "POST", "/x-keys", newKey())).status).toBe(200);
  });

  test("an error is not kept, and frees the key", async () => {
    const [key, body] = [fresh(), newUser()];
    properError(await named(key, "POST", "/x-users", { ...body, Name: "no" }));
    properError(await named(key, "POST", "/x-users", { ...body, Name: owner.name }));
    expect((await named(key, "POST", "/x-users", body)).status).toBe(200);
  });

  test("the same key is another account's own", async () => {
    const [key, other] = [fresh(), await bench.owner()];
    expect((await named(key, "POST", "/x-keys", newKey())).status).toBe(200);
    expect((await named(key, "POST", "/x-keys", newKey(), other.key)).status).toBe(200);
  });

  test.each(["PUT", "POST"])("a change of a key with %s is made once", async (method) => {
    const { ID } = (await bench.call(owner.key, "POST", "/x-keys", newKey())).body.key;
    const [key, path] = [fresh(), `/x-keys/${ID}`];
    const first = await named(key, method, path, { Name: "first" });
    expect(first.body.key.Name).toBe("first");
    await bench.call(owner.key, "PUT", path, { Name: "second" });
    expect((await named(key, method, path, { Name: "first" })).text).toBe(first.text);
    expect((await bench.call(owner.key, "GET", path)).body.key.Name).toBe("second");
  });

  test("a deletion is answered twice", async () => {
    const { ID } = (await bench.call(owner.key, "POST", "/x-keys", newKey())).body.key;
    const key = fresh();
    const answers = [
      await named(key, "DELETE", `/x-keys/${ID}`),
      await named(key, "DELETE", `/x-keys/${ID}`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]!.text).toBe(answers[0]!.text);
  });

  test.each([
    ["PUT", "/x-config", { SWITCH_OVER: "8=9" }],
    ["POST", "/x-config", { SWITCH_OVER: "9=8" }],
    ["POST", "/x-conf", { DelKeys: true }],
    ["DELETE", "/x-config", { keys: ["SWITCH_OVER"] }],
    ["POST", "/x-config/revert", { version: 1 }],
    ["POST", "/x-news", { title: "t", content: "c" }],
  ])("%s %s minds it, and a repeat writes no line in the log", async (method, path, body) => {
    const key = fresh();
    const first = await named(key, method, path, body);
    const lines = (await bench.call(owner.key, "GET", "/dashboard/logs")).body.total;
    expect((await named(key, method, path, body)).text).toBe(first.text);
    expect((await bench.call(owner.key, "GET", "/dashboard/logs")).body.total).toBe(lines);
  });

  test.each(["x".repeat(256), "\u00fc"])("a key that is none is 400", async (key) => {
    properError(await named(key, "POST", "/x-conf", { DelKeys: false }));
  });

  test("what is kept is sealed: the store holds no API key", async () => {
    const { User } = (await named(fresh(), "POST", "/x-users", newUser())).body;
    const file = Bun.file(`${bench.directory}/bench.db`);
    const log = Bun.file(`${bench.directory}/bench.db-wal`);
    const bytes = Buffer.concat(
      await Promise.all([file, log].map(async (one) => Buffer.from(await one.arrayBuffer()))),
    );
    expect(bytes.includes(Buffer.from(User.Updates.Name))).toBe(true);
    expect(bytes.includes(Buffer.from(User.SecretKey))).toBe(false);
  });
});

describe("the parts", () => {
  const ACCOUNT = 7 as AccountId;
  const KEY = Buffer.alloc(32, 1).toString("base64");
  const OTHER = Buffer.alloc(32, 2).toString("base64");
  const DAY_MS = 86_400_000;

  function rig() {
    const clock = manualClock();
    const store = memoryStore({ clock });
    const lines: string[] = [];
    const repeats = (secrets = KEY, kept = store) =>
      withOnce(
        createAdminIdempotency({
          store: kept,
          vault: createSecretVault(secrets, null),
          clock,
          random: countingRandom(),
          log: (_level, event) => void lines.push(event),
          nodes: { node: () => "here", isUp: async () => false },
        }),
      );
    return { clock, store, lines, repeats };
  }

  const call = (body = "{}") => ({
    account: ACCOUNT,
    apiKey: MAIN_API_KEY,
    body,
    request: new Request("http://x.example/x-users", {
      method: "POST",
      headers: { "idempotency-key": "one" },
      body,
    }),
  });

  /** A commit that carries the command's mark, as the ledger has it of what moves money. */
  const moved = (store: ReturnType<typeof rig>["store"], id: string, at: number) =>
    store.append([
      {
        ...{ actor: "account/7", seq: 1, shard: 0, epoch: 1, by: "w", at, v: 1, done: [] },
        ...{ marks: [id], linesTo: 0, lines: 0, events: [] },
      },
    ]);

  test("is good for 24 hours, and then the key is free", async () => {
    const { clock, repeats } = rig();
    const once = repeats();
    let done = 0;
    const run = () => once.once(call(), async () => ++done);
    expect(await run()).toEqual({ value: 1, repeated: false });
    clock.stepWall(DAY_MS - 1);
    expect(await run()).toEqual({ value: 1, repeated: true });
    clock.stepWall(1);
    expect(await run()).toEqual({ value: 2, repeated: false });
  });

  test("a crash before the keeping: the repeat runs with the same command id, also past midnight", async () => {
    const { clock, store, repeats } = rig();
    const commands: CommandId[] = [];
    const crashing = async (command: CommandId) => {
      commands.push(command);
      throw new Error("crash");
    };
    const run = () =>
      repeats()
        .once(call(), crashing)
        .catch(() => null);
    await run();
    await run();
    const { id } = commands[0]!;
    expect(commands[1]!.id).toBe(id);
    const at = clock.wall();
    await moved(store, id, at);
    clock.stepWall(DAY_MS - 1);
    await run();
    expect(commands[2]).toEqual({ id, bornAt: at });
    // A day later it is a request of its own, which may move money again.
    clock.stepWall(1);
    await run();
    expect(commands[3]!.id).not.toBe(id);
  });

  test("a command that leaves no dedup id has the same id past midnight too, for 24 hours", async () => {
    const { clock, repeats } = rig();
    const commands: CommandId[] = [];
    const crashing = async (command: CommandId) => {
      commands.push(command);
      throw new Error("crash");
    };
    const run = (body?: string) =>
      repeats()
        .once(call(body), crashing)
        .catch(() => null);
    await run();
    clock.stepWall(DAY_MS - 1);
    await run();
    expect(commands[1]).toEqual(commands[0]!);
    clock.stepWall(1);
    await run();
    expect(commands[2]!.id).not.toBe(commands[0]!.id);
    // An error has freed the key for another request.
    await run("another");
    expect(commands[3]!.id).not.toBe(commands[2]!.id);
  });

  test("without the key each request has an id of its own; another body has another", async () => {
    const { repeats } = rig();
    const ids: string[] = [];
    const note = async ({ id }: CommandId) => void ids.push(id);
    const once = repeats();
    const bare = { ...call(), request: new Request("http://x.example/x-users", { method: "POST" }) };
    await once.once(bare, note);
    await once.once(bare, note);
    const failing = async (command: CommandId) => {
      await note(command);
      throw new Error("crash");
    };
    await once.once(call("a"), failing).catch(() => null);
    await once.once(call("b"), failing).catch(() => null);
    expect(new Set(ids).size).toBe(4);
  });

  test("an answer in a box that no key opens is idempotency_expired: nothing is done again", async () => {
    const { lines, repeats } = rig();
    await repeats(KEY).once(call(), async () => 1);
    const again = repeats(OTHER).once(call(), async () => 2);
    expect(await again.catch((error) => error.refusal.code)).toBe("idempotency_expired");
    expect(lines).toEqual(["answer_unreadable"]);
  });

  test("an answer that cannot be kept is answered all the same", async () => {
    const { store, lines, repeats } = rig();
    const keepAnswer = async () => {
      throw new Error("full");
    };
    const once = repeats(KEY, { ...store, keepAnswer });
    expect(await once.once(call(), async () => 1)).toEqual({ value: 1, repeated: false });
    expect(lines).toEqual(["command_not_kept", "answer_not_kept"]);
  });

  test("a store that cannot be read: nobody knows, and nothing is done", async () => {
    const { store, repeats } = rig();
    const answer = async () => {
      throw new Error("gone");
    };
    let done = 0;
    const failed = await repeats(KEY, { ...store, answer })
      .once(call(), async () => ++done)
      .catch((error) => error.constructor.name);
    expect([failed, done]).toEqual(["UnavailableError", 0]);
  });
});
