// A compressed answer is the same answer, can be read as it comes, and is broken when it is cut.

import { afterAll, describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { askIn, BOTH, eventsIn, failure, jsonOf, rawly, until } from "./asking.ts";
import { startProvider } from "./provider.ts";
import { REFUSALS } from "./refusals.ts";

const provider = startProvider();
afterAll(() => provider.close());

describe.each(BOTH)("gzip of $name", (style) => {
  const asked = askIn(style);

  test.each([false, true])("says so in the head and holds the same answer, stream: %p", async (stream) => {
    const { segments } = await rawly(provider, style, "[[output=30 utf8 gzip]]", { stream });
    const bytes = Buffer.concat(segments);
    const head = bytes.subarray(0, bytes.indexOf("\r\n\r\n")).toString();
    expect(head).toContain("content-encoding: gzip");
    const response = await asked(provider, "[[output=30 utf8 gzip]]", { stream });
    const text = await response.text();
    if (stream) expect(text).toContain(style.end);
    else expect(style.outputOf(JSON.parse(text))).toBe(30);
  });

  test("of a whole answer is one valid gzip file of the promised length", async () => {
    const { segments } = await rawly(provider, style, "[[output=30 gzip]]");
    const bytes = Buffer.concat(segments);
    const bodyAt = bytes.indexOf("\r\n\r\n") + 4;
    const promised = /content-length: (\d+)/.exec(bytes.subarray(0, bodyAt).toString())![1];
    expect(bytes.length - bodyAt).toBe(Number(promised));
    expect(style.outputOf(JSON.parse(gunzipSync(bytes.subarray(bodyAt)).toString()))).toBe(30);
  });

  test("of a stream can be read event by event", async () => {
    const response = await asked(provider, "[[output=5 gzip fault=stall after=4]]", { stream: true });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let seen = "";
    while (eventsIn(seen) < 4) seen += (await reader.read()).value;
    expect(seen).toEndWith("\n\n");
    await reader.cancel();
  });

  test.each([false, true])("cut in the middle is an error, stream: %p", async (stream) => {
    const response = await asked(provider, "[[output=5 gzip fault=cut after=4]]", { stream }, "sk-gzip-3001");
    await failure(response.text());
    await until(() => provider.calls().findLast((call) => call.key === "3001")!.outcome === "cut");
  });

  test("of an empty answer is empty", async () => {
    const response = await asked(provider, "[[gzip fault=empty]]", { stream: true });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  test("covers refusals", async () => {
    const response = await asked(provider, "[[gzip fault=429]]");
    expect(response.headers.get("retry-after")).toBeNull();
    expect(await jsonOf(response)).toEqual(REFUSALS["429"]![style.name].body as never);
    const { segments } = await rawly(provider, style, "[[gzip fault=429]]");
    expect(Buffer.concat(segments).toString()).toContain("content-encoding: gzip");
  });
});
