// PUT /x-clock: who may move business time, forward only, and what follows it: credit, days, sleeping keys, a restart. On a
// cluster it is test/node/clock.test.ts.

import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silent } from "../../../src/base/log.ts";
import { startService } from "../../../src/node/service.ts";
import { ROOT_KEY, settingsFor } from "../../cli/workload.ts";
import { callsTo, type Json, startBench } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { properError } from "../proper.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const bench = useBench();
const owner = prepared(() => bench.owner());

const moveTo = (offset_ms: unknown, key = bench.rootKey) => bench.call(key, "PUT", "/x-clock", { offset_ms });

let offsetMs = 0;
async function moveBy(ms: number): Promise<Json> {
  offsetMs += ms;
  const { status, body } = await moveTo(offsetMs);
  expect([status, body.offset_ms]).toEqual([200, offsetMs]);
  return body;
}

describe("what follows the clock", () => {
  test("the time in an answer", async () => {
    const before = Date.now();
    const { success, now } = await moveBy(10 * MINUTE_MS);
    expect(success).toBe(true);
    expect(Date.parse(now)).toBeWithin(before + offsetMs, Date.now() + offsetMs + 1);
    const user = await bench.subaccount(owner);
    const [seen] = (await bench.call(owner.key, "GET", `/x-users/${user.id}`)).body;
    expect(Date.parse(seen.CreatedAt)).toBeGreaterThanOrEqual(before + offsetMs);
  });

  test("credit expires", async () => {
    const user = await bench.subaccount(owner, { CreditGranted: 5, Days: 2 });
    await moveBy(2 * DAY_MS - MINUTE_MS);
    expect(await bench.balance(user.key)).toBe(5);
    await moveBy(2 * MINUTE_MS);
    expect(await bench.balance(user.key)).toBe(0);
    expect((await bench.chat(user.key, "[[output=1]]")).body.error.code).toBe("insufficient_balance");
  });

  test("minutes and days of limits begin anew", async () => {
    const slowed = await bench.subaccount(owner, { RPM: 1 });
    const daily = await bench.subaccount(owner, { RPD: 1 });
    const statuses = async (key: string) =>
      [await bench.chat(key, "[[output=1]]"), await bench.chat(key, "[[output=1]]")].map(
        ({ status }) => status,
      );
    expect([await statuses(slowed.key), await statuses(daily.key)]).toEqual([
      [200, 429],
      [200, 429],
    ]);
    await moveBy(2 * MINUTE_MS);
    expect((await bench.chat(slowed.key, "[[output=1]]")).status).toBe(200);
    await moveBy(DAY_MS);
    expect((await bench.chat(daily.key, "[[output=1]]")).status).toBe(200);
  });

  test("a sleeping key wakes", async () => {
    const sleepy = await bench.owner();
    const user = await bench.subaccount(sleepy);
    const chatStatus = async () => (await bench.chat(user.key, "[[output=1]]")).status;
    bench.provider.behave(sleepy.secrets[0]!, "fault=401");
    await chatStatus();
    bench.provider.behave(sleepy.secrets[0]!, null);
    expect(await chatStatus()).toBe(503);
    const { SleepingKeys } = (await bench.call(sleepy.key, "GET", "/x-conf")).body;
    expect(SleepingKeys).toHaveLength(1);
    await moveBy((SleepingKeys[0].SleepSeconds - 60) * 1_000);
    expect(await chatStatus()).toBe(503);
    await moveBy(2 * MINUTE_MS);
    expect(await chatStatus()).toBe(200);
  });

  test("news are there no longer", async () => {
    await bench.call(owner.key, "POST", "/x-news", { title: "t", content: "c", days: 1 });
    const seen = async () => (await bench.call(owner.key, "GET", "/dashboard/news")).body.system_news.length;
    expect(await seen()).toBe(1);
    await moveBy(DAY_MS);
    expect(await seen()).toBe(0);
  });
});

describe("it is moved", () => {
  test("forward only", async () => {
    await moveBy(5_000);
    const back = await moveTo(offsetMs - 1);
    properError(back, 400, "invalid_parameter");
    expect(back.body.error.message).toContain(String(offsetMs));
    expect((await moveTo(offsetMs)).body.offset_ms).toBe(offsetMs);
  });

  test.each([-1, 0.5, "5", null, 10 * 365 * DAY_MS + 1, undefined])("never to %p", async (bad) => {
    properError(await moveTo(bad));
    expect((await moveTo(offsetMs)).body.offset_ms).toBe(offsetMs);
  });

  test("by Root only", async () => {
    properError(await moveTo(offsetMs, owner.key), 403);
    properError(await moveTo(offsetMs, "sk-wrong"), 401);
  });

  test("by requests at once to the latest of their times", async () => {
    const aims = [7_000, 3_000, 9_000, 1_000].map((ms) => offsetMs + ms);
    const answers = await Promise.all(aims.map((aim) => moveTo(aim)));
    for (const { status } of answers) expect([200, 400]).toContain(status);
    offsetMs += 9_000;
    expect((await moveTo(offsetMs)).body.offset_ms).toBe(offsetMs);
  });

  test("with a line of the operation log", async () => {
    const was = offsetMs;
    await moveBy(1_000);
    const { body } = await bench.call(bench.rootKey, "GET", "/dashboard/logs?action=move_clock&size=1");
    expect(body.logs[0]).toMatchObject({ action: "move_clock", operator_id: 1, target_type: "config" });
    expect(body.logs[0].details).toBe(`offset_ms: ${was} → ${offsetMs}`);
  });
});

describe("it is not there", () => {
  test("without ALLOW_CLOCK_OFFSET=1", async () => {
    const fixed = await startBench({ settings: { ALLOW_CLOCK_OFFSET: "" } });
    try {
      for (const method of ["PUT", "GET", "OPTIONS"]) {
        properError(
          await fixed.call(fixed.rootKey, method, "/x-clock", method === "PUT" ? {} : undefined),
          404,
          "not_found",
        );
      }
      const { paths } = (await fixed.call(null, "GET", "/openapi.json")).body;
      expect(Object.keys(paths)).not.toContain("/x-clock");
    } finally {
      await fixed.close();
    }
  });

  test("at the public address beside one for administration", async () => {
    const apart = await startBench({ settings: { ADMIN_PORT: "0" } });
    try {
      const put = (url: string) =>
        fetch(`${url}/x-clock`, {
          method: "PUT",
          headers: { authorization: `Bearer ${apart.rootKey}` },
          body: '{"offset_ms":1}',
        });
      expect((await put(apart.url)).status).toBe(404);
      expect((await put(apart.service.adminUrl)).status).toBe(200);
    } finally {
      await apart.close();
    }
  });
});

test("a restart keeps what was reached, and CLOCK_OFFSET_MS beyond it counts", async () => {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-clock-"));
  const start = (env: Record<string, string>) =>
    startService(settingsFor(join(directory, "arborgate.db"), { ALLOW_CLOCK_OFFSET: "1", ...env }), silent);
  const offsetOf = async (env: Record<string, string>, asked: number): Promise<[number, number]> => {
    const service = await start(env);
    try {
      const { call } = callsTo(() => service.url);
      const { status, body } = await call(ROOT_KEY, "PUT", "/x-clock", { offset_ms: asked });
      return [status, body.offset_ms];
    } finally {
      await service.stop();
    }
  };
  try {
    expect(await offsetOf({}, DAY_MS)).toEqual([200, DAY_MS]);
    expect((await offsetOf({}, DAY_MS - 1))[0]).toBe(400);
    expect(await offsetOf({ CLOCK_OFFSET_MS: "5000" }, DAY_MS)).toEqual([200, DAY_MS]);
    const further = { CLOCK_OFFSET_MS: String(2 * DAY_MS) };
    expect((await offsetOf(further, 2 * DAY_MS - 1))[0]).toBe(400);
    expect(await offsetOf(further, 2 * DAY_MS)).toEqual([200, 2 * DAY_MS]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
