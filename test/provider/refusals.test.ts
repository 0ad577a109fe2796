// Every refusal of the stand-in is sent as its row has it, in either dialect, and says when to come back if its script does.

import { afterAll, describe, expect, test } from "bun:test";
import { manualClock, NOON } from "../runtime/manual-clock.ts";
import { askIn, BOTH, jsonOf } from "./asking.ts";
import { startProvider } from "./provider.ts";
import { REFUSALS } from "./refusals.ts";

const provider = startProvider();
afterAll(() => provider.close());
const lastCall = (key: string) => provider.calls().findLast((call) => call.key === key)!;

describe.each(BOTH)("refusals of $name", (style) => {
  const asked = askIn(style);

  test.each(Object.entries(REFUSALS))("%s is sent as the table has it", async (name, refusal) => {
    const { body } = refusal[style.name];
    for (const stream of [false, true]) {
      const response = await asked(provider, `[[fault=${name}]]`, { stream }, "sk-refused-1006");
      expect(response.status).toBe(refusal.status);
      expect(response.headers.get("retry-after")).toBeNull();
      const { headers } = response;
      expect(headers.has(style.name === "chat" ? "x-request-id" : "request-id")).toBe(true);
      if (typeof body === "string") expect(await response.text()).toBe(body);
      else expect(await jsonOf(response)).toEqual(body as never);
    }
    expect(lastCall("1006")).toMatchObject({ status: refusal.status, usage: null });
  });

  test.each([
    ["retry=20", "20"],
    ["retry=0", "0"],
    ["retry=-1", "-1"],
    ["retry=soon", "soon"],
    ["retry=1.5", "1.5"],
    ["retry=99999999999", "99999999999"],
  ])("%s is the retry-after header", async (knob, value) => {
    const response = await asked(provider, `[[fault=429 ${knob} retry_ms=12.5]]`);
    expect(response.headers.get("retry-after")).toBe(value);
    expect(response.headers.get("retry-after-ms")).toBe("12.5");
  });

  test.each([
    ["date", 20_000],
    ["past", -86_400_000],
  ])("retry=%s is an HTTP date so many milliseconds from now: %d", async (word, awayMs) => {
    const dated = startProvider({ clock: manualClock(NOON) });
    const response = await asked(dated, `[[fault=429 retry=${word}]]`);
    const after = response.headers.get("retry-after")!;
    expect(after).toEndWith(" GMT");
    expect(Date.parse(after) - NOON).toBe(awayMs);
    dated.close();
  });

  test("an HTML error is HTML", async () => {
    const response = await asked(provider, "[[fault=502]]");
    expect(response.headers.get("content-type")).toStartWith("text/html");
  });
});
