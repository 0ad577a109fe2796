// No escalation: no key makes, changes, rotates or deletes a key that is stronger than itself, gets another key's answers, or
// keeps a way into an account that was moved away.

import { describe, expect, test } from "bun:test";
import { asking, type Json } from "../../e2e/harness.ts";
import { preparedEach } from "../../e2e/prepared-each.ts";
import { expectError, prepared, useBench } from "../../e2e/use-bench.ts";
import { makeKey, recordOf, tryKey } from "./key-bench.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = preparedEach(() => bench.subaccount(owner, { CreditGranted: 10 }));

const change = (key: string, id: number, body: object) =>
  bench.call(key, "PUT", `/dashboard/keys/${id}`, body);
const rotate = (key: string, id: number, body?: object) =>
  bench.call(key, "POST", `/dashboard/keys/${id}/rotate`, body);
const remove = (key: string, id: number) => bench.call(key, "DELETE", `/dashboard/keys/${id}`);
const YEAR = "2199-01-01T00:00:00Z";

describe("a key with manage", () => {
  test("gives no scope that it has not, and takes none away from a key that has it", async () => {
    const manager = await makeKey(bench, user, { Scopes: ["manage", "read"] });
    expectError(await tryKey(bench, manager.secret, { Scopes: ["invoke"] }), 403, "scope_missing");
    expectError(await tryKey(bench, manager.secret), 403, "scope_missing");
    const made = await tryKey(bench, manager.secret, { Scopes: ["read", "manage"] });
    expect(made.status).toBe(200);
    expectError(
      await change(manager.secret, made.body.key.id, { Scopes: ["read", "invoke"] }),
      403,
      "scope_missing",
    );
    const invoking = await makeKey(bench, user);
    for (const answer of [
      await change(manager.secret, invoking.id, { Scopes: ["read"] }),
      await change(manager.secret, invoking.id, { Status: false }),
      await rotate(manager.secret, invoking.id),
      await remove(manager.secret, invoking.id),
    ]) {
      expectError(answer, 403, "scope_missing");
    }
    expect(await recordOf(bench, user, invoking.id)).toEqual(invoking.record);
  });

  test("cannot touch itself, nor the main key", async () => {
    const manager = await makeKey(bench, user, { Scopes: ["manage"] });
    for (const id of [manager.id, 0]) {
      expectError(await change(manager.secret, id, { ExpiresAt: null }), 403, "field_not_settable");
      expectError(await rotate(manager.secret, id), 403, "field_not_settable");
      expectError(await remove(manager.secret, id), 403, "field_not_settable");
    }
    expectError(
      await bench.call(manager.secret, "POST", "/x-self", {
        confirm: `${new Date(bench.now()).toISOString().slice(0, 10)}-ROTATE-SELF`,
      }),
      403,
      "scope_missing",
    );
    expect((await bench.call(user.key, "GET", "/dashboard/status")).status).toBe(200);
  });

  test("bounds the end of every key that it makes, changes or rotates", async () => {
    const manager = await makeKey(bench, user, { Scopes: ["manage"], ExpiresAt: YEAR });
    for (const ExpiresAt of [null, "2199-01-01T00:00:01Z"]) {
      expectError(
        await tryKey(bench, manager.secret, { Scopes: ["manage"], ExpiresAt }),
        400,
        "invalid_parameter",
      );
    }
    expectError(await tryKey(bench, manager.secret, { Scopes: ["manage"] }), 400, "invalid_parameter");
    const { body } = await tryKey(bench, manager.secret, { Scopes: ["manage"], ExpiresAt: YEAR });
    expectError(await change(manager.secret, body.key.id, { ExpiresAt: null }), 400, "invalid_parameter");
    const lasting = await makeKey(bench, user, { Scopes: ["manage"] });
    expectError(await rotate(manager.secret, lasting.id), 400, "invalid_parameter");
    expectError(await change(manager.secret, lasting.id, { RPM: 0 }), 400, "invalid_parameter");
  });

  test("bounds the addresses of every key that it makes, changes or rotates", async () => {
    const manager = await makeKey(bench, user, { Scopes: ["manage"], AllowIPs: "127.0.0.0/8 ::1" });
    for (const AllowIPs of ["", "126.0.0.0/7", "127.0.0.1 10.0.0.1", "::/0"]) {
      expectError(
        await tryKey(bench, manager.secret, { Scopes: ["manage"], AllowIPs }),
        400,
        "invalid_parameter",
      );
    }
    const { body } = await tryKey(bench, manager.secret, {
      Scopes: ["manage"],
      AllowIPs: "127.0.0.1 127.1.0.0/16",
    });
    expect(body.success).toBe(true);
    expectError(
      await change(manager.secret, body.key.id, { AllowIPs: "10.0.0.1" }),
      400,
      "invalid_parameter",
    );
    const open = await makeKey(bench, user, { Scopes: ["manage"] });
    expectError(await rotate(manager.secret, open.id), 400, "invalid_parameter");
  });
});

describe("an ancestor's key", () => {
  test("makes and changes keys of its descendants within its own bounds", async () => {
    const manager = await makeKey(bench, owner, { Scopes: ["manage"], ExpiresAt: YEAR });
    expectError(await tryKey(bench, manager.secret, {}, user), 403, "scope_missing");
    expectError(await tryKey(bench, manager.secret, { Scopes: ["manage"] }, user), 400, "invalid_parameter");
    const { body } = await tryKey(bench, manager.secret, { Scopes: ["manage"], ExpiresAt: YEAR }, user);
    expect(body.key.created_by).toBe(owner.id);
    expect((await bench.call(body.secret, "GET", "/dashboard/status")).body.id).toBe(user.id);
  });

  test("a key of one's own with the same id as the caller's is no caller", async () => {
    const above = await makeKey(bench, owner, { Scopes: ["invoke", "manage"] });
    let below = await makeKey(bench, user);
    while (below.id < above.id) below = await makeKey(bench, user);
    const path = `/dashboard/keys/${above.id}?user=${user.id}`;
    expect((await bench.call(above.secret, "PUT", path, { RPM: 5 })).status).toBe(200);
  });

  test("neither a sibling nor a subaccount reaches the keys of an account", async () => {
    const sibling = await bench.subaccount(owner, {});
    const child = await bench.subaccount(user, {});
    for (const key of [sibling.key, child.key]) {
      const answer = await tryKey(bench, key, {}, user);
      expect([403, 404]).toContain(answer.status);
      const listed = await bench.call(key, "GET", `/dashboard/keys?user=${user.id}`);
      expect([403, 404]).toContain(listed.status);
    }
  });
});

describe("answers of an Idempotency-Key", () => {
  const headers = { "idempotency-key": "the same" };

  test("of management belong to the API key that sent it; a rotation keeps it", async () => {
    const one = await makeKey(bench, user, { Scopes: ["manage", "invoke"] });
    const two = await makeKey(bench, user, { Scopes: ["manage", "invoke"] });
    const make = (key: string) =>
      bench.call(key, "POST", "/dashboard/keys", { Name: "made once" }, { headers });
    const first = await make(one.secret);
    expect(first.status).toBe(200);
    expect((await make(one.secret)).body).toEqual(first.body);
    // Another key is refused as a new request: the name is taken.
    for (const key of [two.secret, user.key]) expectError(await make(key), 400, "duplicate_name");
    const { secret } = (await rotate(user.key, one.id)).body;
    expect((await make(secret)).body).toEqual(first.body);
  });

  test("of the gateway belong to the API key that sent it, and scope is checked before a replay", async () => {
    const one = await makeKey(bench, user);
    const two = await makeKey(bench, user);
    const ask = (key: string) => bench.chat(key, "[[output=3]]", { max_tokens: 9 }, { headers });
    const first = await ask(one.secret);
    const again = await ask(one.secret);
    expect([first.status, again.body.id]).toEqual([200, first.body.id]);
    const other = await ask(two.secret);
    const main = await ask(user.key);
    expect(new Set([first.body.id, other.body.id, main.body.id]).size).toBe(3);
    await change(user.key, one.id, { Scopes: ["read"] });
    expectError(await ask(one.secret), 403, "scope_missing");
    await change(user.key, one.id, { Scopes: ["invoke"] });
    const { secret } = (await rotate(user.key, one.id)).body;
    expect((await ask(secret)).body.id).toBe(first.body.id);
    expectError(await ask(one.secret), 401, "invalid_api_key");
    expect((await bench.ledger(user.key)).filter(({ type }: Json) => type === "charge")).toHaveLength(3);
  });
});

describe("a key that ends while the body of its call arrives", () => {
  /** Sends a call whose body waits for `before`. */
  const slowly = async (
    key: string,
    method: string,
    path: string,
    body: object,
    before: () => Promise<unknown>,
  ) => {
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const sent = new ReadableStream<Uint8Array>({
      async start(stream) {
        stream.enqueue(bytes.slice(0, 1));
        await arrived;
        stream.enqueue(bytes.slice(1));
        stream.close();
      },
    });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = fetch(bench.url + path, { method, headers, body: sent });
    await before();
    arrive();
    const response = await answer;
    return { status: response.status, headers: response.headers, ...(await textOf(response)) };
  };
  const textOf = async (response: Response) => {
    const text = await response.text();
    return { text, body: JSON.parse(text) };
  };

  test("makes no key of a descendant, and no account", async () => {
    const Scopes = ["invoke", "manage"];
    const calls = [
      [`/dashboard/keys?user=${user.id}`, { Name: "late" }],
      ["/x-users", { Name: "late-account", Email: "late@example.com" }],
    ] as const;
    for (const [path, body] of calls) {
      const ended = await makeKey(bench, owner, { Scopes });
      const narrowed = await makeKey(bench, owner, { Scopes });
      // Its first use is recorded when the call is identified, before its body is read.
      const identified = async (id: number) => {
        while ((await recordOf(bench, owner, id)).last_used_at === null) await Bun.sleep(5);
      };
      expectError(
        await slowly(ended.secret, "POST", path, body, async () => {
          await identified(ended.id);
          await remove(owner.key, ended.id);
        }),
        401,
        "invalid_api_key",
      );
      expectError(
        await slowly(narrowed.secret, "POST", path, body, async () => {
          await identified(narrowed.id);
          await change(owner.key, narrowed.id, { Scopes: ["invoke"] });
        }),
        403,
        "scope_missing",
      );
    }
  });
});

describe("a move", () => {
  const move = (id: number, parent: number) =>
    bench.call(bench.rootKey, "PUT", `/x-users/${id}`, { ParentID: parent });

  test("disables the keys whose maker or whose secret's holder is no longer above, and logs each", async () => {
    const middle = await bench.subaccount(owner, { CreditGranted: 20 });
    const other = await bench.subaccount(owner, {});
    const team = await bench.subaccount(middle, { CreditGranted: 5 });
    const own = await makeKey(bench, team);
    const byOwner = await makeKey(bench, owner, {}, team);
    const byMiddle = await makeKey(bench, middle, { Name: "by middle" }, team);
    const rotatedByMiddle = await makeKey(bench, team, { Name: "rotated" });
    const seen = await bench.call(
      middle.key,
      "POST",
      `/dashboard/keys/${rotatedByMiddle.id}/rotate?user=${team.id}`,
    );
    const keys = [own.secret, byOwner.secret, byMiddle.secret, seen.body.secret];
    const statuses = () =>
      Promise.all(keys.map(async (key) => (await bench.chat(key, "[[output=1]]")).status));
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    expect((await move(team.id, other.id)).status).toBe(200);
    expect(await statuses()).toEqual([200, 200, 401, 401]);
    const answer = await bench.chat(byMiddle.secret, "x");
    expect(answer.body.error.message).toContain("disabled");
    const { logs } = (await bench.call(team.key, "GET", "/dashboard/logs?action=update_api_key")).body;
    expect(logs.map(({ target_id }: Json) => target_id).sort()).toEqual([byMiddle.id, rotatedByMiddle.id]);

    // What somebody else knows is not enabled again before it has another secret.
    for (const { id } of [byMiddle, rotatedByMiddle]) {
      expectError(await change(team.key, id, { Status: true }), 400, "invalid_parameter");
      const { body } = await rotate(team.key, id, { OverlapSeconds: 3_600 });
      expect((await change(team.key, id, { Status: true })).status).toBe(200);
      expect((await bench.chat(body.secret, "[[output=1]]")).status).toBe(200);
    }
    expect(await statuses()).toEqual([200, 200, 401, 401]);
  });

  test("the former ancestor makes no key any more", async () => {
    const middle = await bench.subaccount(owner, { CreditGranted: 20 });
    const other = await bench.subaccount(owner, {});
    const team = await bench.subaccount(middle, { CreditGranted: 5 });
    await move(team.id, other.id);
    expectError(await tryKey(bench, middle.key, {}, team), 404, "user_not_found");
  });
});

test("a capped key gets no uncapped money: no endpoint that its scopes open moves credit or makes keys", async () => {
  const capped = await makeKey(bench, user, { Scopes: ["invoke", "read"], HardLimit: 0.000001 });
  const calls = [
    ["POST", "/x-users", { Name: "sub-account", Email: "a@b.example", CreditGranted: 2 }],
    ["POST", "/dashboard/keys", { Name: "another" }],
    ["PUT", `/dashboard/keys/${capped.id}`, { HardLimit: 0 }],
    ["PUT", `/x-users/${user.id}`, { ModelMapper: "*=x" }],
    ["POST", `/dashboard/keys/${capped.id}/rotate`, {}],
  ] as const;
  for (const [method, path, body] of calls) {
    expectError(await bench.call(capped.secret, method, path, body), 403, "scope_missing");
  }
  expectError(
    await bench.call(capped.secret, "POST", "/v1/chat/completions", { ...asking("x"), max_tokens: 5_000 }),
    429,
    "hard_limit_reached",
  );
});
