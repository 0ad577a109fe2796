// GET /dashboard/logs: one line for each act, done or refused; who sees it; what it says; and that it has no secret.

import { describe, expect, test } from "bun:test";
import { sweepLogs } from "../../../src/admin/periodic-sweeps.ts";
import { fresh, type Json } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { manualClock } from "../../runtime/manual-clock.ts";
import { memoryStore } from "../../store/memory/memory.ts";
import { confirming } from "../endpoints.ts";
import { properError } from "../proper.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());
const user = prepared(() => bench.subaccount(owner));

const logs = async (key: string, query = ""): Promise<Json> =>
  (await bench.call(key, "GET", `/dashboard/logs${query}`)).body;
const newest = async (key = owner.key): Promise<Json> => (await logs(key, "?size=1")).logs[0];
const secret = () => `sk-secret-of-${fresh()}-long-enough`;
const addKey = async (SecretKey = secret()) =>
  (await bench.call(owner.key, "POST", "/x-keys", { Level: 9, Provider: bench.provider.url, SecretKey })).body
    .key;

describe("a line", () => {
  test("says what changed, before and after, and leaves out what did not", async () => {
    const { ID } = await addKey();
    await bench.call(owner.key, "PUT", `/x-keys/${ID}`, { Level: 10, Status: true });
    expect(await newest()).toMatchObject({ action: "update_key", target_id: ID, details: "Level: 9 → 10" });
  });

  test("of a refused write is failed, with the code and what it was about", async () => {
    const { ID } = await addKey();
    properError(await bench.call(owner.key, "PUT", `/x-keys/${ID}`, { Provider: "http://10.0.0.1" }));
    expect(await newest()).toMatchObject({
      action: "update_key",
      target_id: ID,
      target_type: "key",
      status: "failed",
      details: expect.stringContaining("forbidden_provider_address"),
    });
  });

  test("is written of a write that may not be, and of a body that cannot be", async () => {
    expect((await bench.call(user.key, "POST", "/x-keys", {})).status).toBe(403);
    expect(await newest(user.key)).toMatchObject({
      ...{ action: "add_key", operator_id: user.id, target_id: null, target_type: "key" },
      ...{ status: "failed" },
      details: expect.stringContaining("not_owner"),
    });
    expect((await bench.call(owner.key, "POST", "/x-keys", "{")).status).toBe(400);
    expect(await newest()).toMatchObject({
      status: "failed",
      details: expect.stringContaining("invalid_json"),
    });
  });

  test("is not written of reading, and not of a key that is nobody's", async () => {
    const before = (await logs(bench.rootKey)).total;
    await bench.call(owner.key, "GET", "/x-keys");
    await bench.call("sk-nobody", "POST", "/x-keys", {});
    await bench.call(null, "POST", "/x-keys", {});
    expect((await logs(bench.rootKey)).total).toBe(before);
  });

  test("has no secret", async () => {
    const [first, second] = [secret(), secret()];
    const { ID } = await addKey(first);
    await bench.call(owner.key, "PUT", `/x-keys/${ID}`, { SecretKey: second });
    await bench.call(owner.key, "PUT", "/x-config", { EMAIL_PASS: "hunter2-hunter2" });
    const text = JSON.stringify(await logs(bench.rootKey, "?size=100"));
    for (const one of [first, second, "hunter2", owner.key, user.key]) expect(text).not.toContain(one);
    expect(text).toContain("SecretKey: ");
    expect(text).toContain("EMAIL_PASS: ");
  });
});

describe("who sees a line", () => {
  test("the account it is about and those above, the account that acted, and Root; no other", async () => {
    const child = await bench.subaccount(user, { CreditGranted: 2 });
    const sibling = await bench.subaccount(owner);
    const other = await bench.owner();
    await bench.call(child.key, "POST", "/x-self", { confirm: confirming("SELF", bench.now()) });
    const sees = async (key: string) =>
      (await logs(key, `?action=rotate_self&target_id=${child.id}`)).total as number;
    const keys = [user.key, owner.key, bench.rootKey, sibling.key, other.key];
    expect(await Promise.all(keys.map(sees))).toEqual([1, 1, 1, 0, 0]);
  });
});

describe("the query", () => {
  test("pages: 24 by default, at most 100, with total and has_more", async () => {
    const lone = await bench.owner();
    const before = (await logs(lone.key)).total;
    for (let i = before; i < 30; i++) await bench.call(lone.key, "POST", "/x-conf", { DelKeys: false });
    const first = await logs(lone.key);
    expect([first.logs.length, first.total, first.page, first.size, first.has_more]).toEqual([
      24,
      30,
      1,
      24,
      true,
    ]);
    const second = await logs(lone.key, "?page=2");
    expect([second.logs.length, second.has_more]).toEqual([6, false]);
    const ids = [...first.logs, ...second.logs].map(({ id }: Json) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
    expect((await logs(lone.key, "?size=1000")).size).toBe(100);
  });

  test("filters by action, target_id and status, together", async () => {
    const { ID } = await addKey();
    await bench.call(owner.key, "PUT", `/x-keys/${ID}`, { Level: 3 });
    await bench.call(owner.key, "PUT", `/x-keys/${ID}`, { Provider: "http://10.0.0.1" });
    expect((await logs(owner.key, `?target_id=${ID}`)).total).toBe(3);
    expect((await logs(owner.key, `?target_id=${ID}&action=update_key`)).total).toBe(2);
    expect((await logs(owner.key, `?target_id=${ID}&action=update_key&status=failed`)).total).toBe(1);
    expect((await logs(owner.key, "?action=no_such_action")).logs).toEqual([]);
  });

  test("filters by who acted, and by time, of which both ends are included", async () => {
    const lone = await bench.owner();
    const child = await bench.subaccount(lone, { CreditGranted: 10 });
    const act = async (key: string) => {
      bench.moveClock(60_000);
      await bench.call(key, "PUT", `/x-users/${child.id}`, { Alias: `by ${fresh()}` });
      return bench.now();
    };
    await act(lone.key);
    await act(child.key);
    const last = await act(lone.key);
    const found = async (query: string, key = lone.key) =>
      (await logs(key, `?action=update_user&${query}`)).logs.map((line: Json) => line.operator_id);
    expect(await found("")).toEqual([lone.id, child.id, lone.id]);
    expect(await found(`operator_id=${child.id}`)).toEqual([child.id]);
    expect(await found(`operator_id=${lone.id}`)).toEqual([lone.id, lone.id]);
    expect(await found(`operator_id=${owner.id}`)).toEqual([]);
    const minutes = (ago: number) => new Date(last - ago * 60_000).toISOString();
    expect(await found(`from=${minutes(1.5)}`)).toEqual([lone.id, child.id]);
    expect(await found(`to=${minutes(0.5)}`)).toEqual([child.id, lone.id]);
    expect(await found(`from=${minutes(1.5)}&to=${minutes(0.5)}&operator_id=${child.id}`)).toEqual([
      child.id,
    ]);
    expect(await found(`from=${minutes(1.5)}&to=${minutes(0.5)}`, bench.rootKey)).toEqual([child.id]);
    const [newestLine] = (await logs(lone.key, "?action=update_user&size=1")).logs;
    const day = minutes(0).slice(0, 10);
    expect((await found(`to=${day}`)).length).toBe(3);
    expect(await found(`to=${minutes(60 * 48).slice(0, 10)}`)).toEqual([]);
    expect(await found(`from=${minutes(-60 * 48).slice(0, 10)}`)).toEqual([]);
    const second = Date.parse(`${newestLine.created_at.replace(" ", "T")}Z`);
    const near = `from=${new Date(second).toISOString()}&to=${new Date(second + 999).toISOString()}`;
    expect(await found(near)).toEqual([lone.id]);
    const paged = await logs(lone.key, `?action=update_user&from=${minutes(1.5)}&size=1&page=2`);
    expect([paged.total, paged.has_more, paged.logs[0].operator_id]).toEqual([2, false, child.id]);
  });

  test.each([
    ...["from=yesterday", "to=2026-02-30", "from=2026-01-02&to=2026-01-01", "from=1700000000000", "from="],
    ...["operator_id=me", "operator_id=-1", "operator_id="],
  ])("?%s: 400 invalid_parameter", async (query) => {
    properError(await bench.call(owner.key, "GET", `/dashboard/logs?${query}`), 400, "invalid_parameter");
  });

  test.each(["page=0", "size=0", "page=-1", "target_id=x", "status=odd", "unknown=1"])(
    "%s is 400",
    async (query) => {
      properError(await bench.call(owner.key, "GET", `/dashboard/logs?${query}`));
    },
  );

  test("/dashboard/x-user-logs answers the same", async () => {
    const other = await bench.call(owner.key, "GET", "/dashboard/x-user-logs?size=3");
    expect(other.body).toEqual(await logs(owner.key, "?size=3"));
  });
});

describe("LogEnable", () => {
  test("is Root's alone, and nothing else of the request is done", async () => {
    properError(
      await bench.call(owner.key, "POST", "/x-conf", { DelKeys: true, LogEnable: false }),
      403,
      "not_root",
    );
    expect(await newest()).toMatchObject({ action: "auto_config", status: "failed" });
  });

  test("false stops new lines everywhere, but one that says who did it; true starts them again", async () => {
    const turn = (on: boolean) => bench.call(bench.rootKey, "POST", "/x-conf", { LogEnable: on });
    expect((await turn(false)).body).toEqual({ success: true, LogEnable: "false" });
    const last = await newest(bench.rootKey);
    expect(last).toMatchObject({ action: "auto_config", operator_id: 1, details: "LogEnable: false" });
    await addKey();
    expect((await bench.call(user.key, "POST", "/x-keys", {})).status).toBe(403);
    expect(await newest(bench.rootKey)).toEqual(last);
    await turn(true);
    expect((await newest(bench.rootKey)).details).toBe("LogEnable: true");
    await addKey();
    expect(await newest(bench.rootKey)).toMatchObject({ action: "add_key", operator_id: owner.id });
  });

  test("a reversion that switches it says who did it", async () => {
    const call = (method: string, path: string, body?: object) =>
      bench.call(bench.rootKey, method, path, body);
    await call("POST", "/x-conf", { LogEnable: false });
    const off = (await call("GET", "/x-config/history?size=1")).body.versions[0].version;
    await call("POST", "/x-conf", { LogEnable: true });
    expect((await call("POST", "/x-config/revert", { version: off })).status).toBe(200);
    const last = await newest(bench.rootKey);
    expect(last).toMatchObject({ action: "update_config", operator_id: 1, status: "success" });
    expect(last.details).toContain("LOG_ENABLE: true → false");
    await call("POST", "/x-config/revert", { version: off - 1 });
    expect((await newest(bench.rootKey)).details).toContain("LOG_ENABLE: false → true");
  });
});

test("lines go when they are older than they are kept", async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const DAY = 86_400_000;
  const line = (id: number, days: number) =>
    ({ table: "logs", id: String(id), body: { id, at: clock.wall() - days * DAY } }) as const;
  await store.putRecords([line(1, 3), line(2, 2), line(3, 1.9)]);
  expect(await sweepLogs({ store, clock, logDays: 2 })).toBe(2);
  const left = await store.find({ table: "logs", where: [], order: "id" });
  expect(left.map(({ id }) => id)).toEqual([3]);
});
