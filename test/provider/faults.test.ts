// Every fault and refusal of the stand-in does on the wire what its row says.

import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import OpenAI from "openai";
import { ask, chatBody, eventsOf, jsonOf, until } from "./asking.ts";
import { FAULTS } from "./faults.ts";
import { startProvider } from "./provider.ts";
import { REFUSALS } from "./refusals.ts";

const provider = startProvider();
afterAll(() => provider.close());
const STREAM = { stream: true };
const lastCall = (key: string) => provider.calls().findLast((call) => call.key === key)!;

/** The bytes of an answer as they came, segment by segment, and how the connection ended. */
function rawly(text: string, extra: object = {}, quietMs = 300) {
  const body = JSON.stringify(chatBody(text, extra));
  const { promise, resolve } = Promise.withResolvers<{ segments: Buffer[]; ending: string }>();
  const segments: Buffer[] = [];
  const socket = connect(Number(new URL(provider.url).port), "127.0.0.1");
  const ended = (ending: string) => {
    clearTimeout(quiet);
    socket.destroy();
    resolve({ segments, ending });
  };
  const quiet = setTimeout(() => ended("open"), quietMs);
  socket.on("data", (bytes: Buffer) => segments.push(bytes));
  socket.on("end", () => ended("fin"));
  socket.on("error", (error: Error & { code?: string }) =>
    ended(error.code === "ECONNRESET" ? "rst" : "error"),
  );
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-raw\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return promise;
}

const failure = async (work: Promise<unknown>): Promise<Error> => {
  const outcome = await work.then(
    () => null,
    (error: Error) => error,
  );
  if (outcome === null) throw new Error("Expected a failure, got a clean end");
  return outcome;
};

describe("cuts", () => {
  test.each([
    ["rst", "rst"],
    ["fin", "fin"],
  ])("a stream cut by %s is an error to the client after the events before it", async (how, ending) => {
    const text = `[[fault=cut after=4 how=${how}]]`;
    const response = await ask(provider, text, STREAM);
    expect(response.status).toBe(200);
    let seen = "";
    const error = await failure(
      (async () => {
        const decoder = new TextDecoder();
        for await (const bytes of response.body!) seen += decoder.decode(bytes, { stream: true });
      })(),
    );
    expect(error).toHaveProperty("code", "ECONNRESET");
    expect(seen.match(/data: /g)).toHaveLength(4);
    const raw = await rawly(text, STREAM);
    expect(raw.ending).toBe(ending);
    expect(
      Buffer.concat(raw.segments)
        .toString()
        .match(/data: /g),
    ).toHaveLength(4);
  });

  test.each(["rst", "fin"])("a whole answer cut by %s is an error to the client", async (how) => {
    const response = await ask(provider, `[[fault=cut how=${how}]]`, {}, "sk-cut-1001");
    await failure(response.text());
    expect(lastCall("1001")).toMatchObject({ outcome: "cut", aborted: false });
    expect(lastCall("1001").usage!.completion).toBe(8);
  });

  test("a clean cut looks like an end, and only what was sent is counted", async () => {
    const text = await (await ask(provider, "[[fault=cut how=clean after=6]]", STREAM, "sk-cut-1002")).text();
    expect(text.match(/data: /g)).toHaveLength(6);
    expect(text).not.toContain('finish_reason":"stop');
    await until(() => lastCall("1002").outcome !== null);
    expect(lastCall("1002").usage!.completion).toBe(5);
    const whole = await (await ask(provider, "[[fault=cut how=clean]]")).text();
    expect(() => JSON.parse(whole)).toThrow();
  });

  test.each(["rst", "fin"])("a reset by %s comes before any head", async (how) => {
    const text = `[[fault=reset how=${how}]]`;
    expect(await failure(ask(provider, text, {}, "sk-reset-1003"))).toHaveProperty("code", "ECONNRESET");
    expect(lastCall("1003")).toMatchObject({ status: 0, usage: null, outcome: "cut" });
    expect(await rawly(text)).toMatchObject({ segments: [], ending: how });
  });

  test("the official client sees a cut stream as an error", async () => {
    const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-sdk", maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "[[fault=cut after=3]]" }];
    const stream = await client.chat.completions.create({ model: "gpt-4o", messages, stream: true });
    await failure(Array.fromAsync(stream));
  });
});

describe("silence", () => {
  test("hang never gives a head; the call ends when the client leaves", async () => {
    await failure(ask(provider, "[[fault=hang]]", {}, "sk-hang-1004", AbortSignal.timeout(60)));
    await until(() => lastCall("1004").outcome === "aborted");
    expect(lastCall("1004")).toMatchObject({ status: 0, aborted: true, usage: null });
  });

  test.each([true, false])("stall stops in the middle, stream: %p", async (stream) => {
    const response = await ask(
      provider,
      "[[fault=stall after=3]]",
      { stream },
      "sk-stall-1005",
      AbortSignal.timeout(80),
    );
    expect(response.status).toBe(200);
    await failure(response.text());
    await until(() => lastCall("1005").outcome === "aborted");
    expect(lastCall("1005").usage!.completion).toBe(stream ? 2 : 8);
  });

  test("slowness comes before the head, before the first event and between events", async () => {
    const start = performance.now();
    const response = await ask(provider, "[[output=3 head_ms=60 first_ms=60 chunk_ms=20]]", STREAM);
    const headAfter = performance.now() - start;
    expect(headAfter).toBeWithin(55, 120);
    const reader = response.body!.getReader();
    await reader.read();
    expect(performance.now() - start - headAfter).toBeGreaterThan(50);
    let reads = 1;
    while (!(await reader.read()).done) reads++;
    expect(reads).toBe(6);
    expect(performance.now() - start).toBeGreaterThan(60 + 60 + 5 * 20 - 15);
  });
});

describe("odd streams", () => {
  const plainText = async () => {
    const events = await eventsOf(await ask(provider, "[[output=12]]", STREAM));
    return events.map((event) => event.choices[0].delta.content ?? "").join("");
  };

  test("empty is a good head and nothing", async () => {
    const response = await ask(provider, "[[fault=empty]]", STREAM);
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      "",
    ]);
    expect(await (await ask(provider, "[[fault=empty]]")).text()).toBe("");
  });

  test("no_done lacks only the last event", async () => {
    const text = await (await ask(provider, "[[fault=no_done]]", STREAM)).text();
    expect(text).not.toContain("[DONE]");
    expect(text).toContain('"finish_reason":"stop"');
  });

  test("unstreamed answers a stream request whole", async () => {
    const response = await ask(provider, "[[fault=unstreamed]]", STREAM);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect((await jsonOf(response)).object).toBe("chat.completion");
  });

  test("error_event ends a stream that had begun; the official client raises it", async () => {
    const events = await eventsOf(await ask(provider, "[[fault=error_event after=2]]", STREAM));
    expect(events).toHaveLength(3);
    expect(events[2].error.type).toBe("server_error");
    const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-sdk", maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "[[fault=error_event]]" }];
    const stream = await client.chat.completions.create({ model: "gpt-4o", messages, stream: true });
    expect(await failure(Array.fromAsync(stream))).toBeInstanceOf(OpenAI.APIError);
    const whole = await ask(provider, "[[fault=error_event]]");
    expect([whole.status, (await jsonOf(whole)).error.type]).toEqual([200, "server_error"]);
  });

  test("garbage is one event, or a body, that is not JSON", async () => {
    const response = await ask(provider, "[[fault=garbage after=2]]", STREAM);
    const lines = (await response.text()).split("\n\n");
    expect(() => JSON.parse(lines[2]!.slice(6))).toThrow();
    expect(JSON.parse(lines[3]!.slice(6)).choices).toHaveLength(1);
    await failure((await ask(provider, "[[fault=garbage]]")).json());
  });

  test("huge is one line of so many kilobytes, still JSON", async () => {
    const response = await ask(provider, "[[fault=huge kb=300 after=1]]", STREAM);
    const lines = (await response.text()).split("\n\n");
    expect(lines[1]!.length).toBeGreaterThan(300 * 1024);
    expect(JSON.parse(lines[1]!.slice(6)).choices[0].delta).toEqual({});
    const whole = await (await ask(provider, "[[fault=huge kb=300]]")).text();
    expect(JSON.parse(whole).usage.completion_tokens).toBe(8);
    expect(whole.length).toBeGreaterThan(300 * 1024);
  });

  test("comments come first", async () => {
    const text = await (await ask(provider, "[[fault=comments events=2]]", STREAM)).text();
    expect(text).toStartWith(": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: {");
  });

  test("azure opens without choices and closes with a choice without delta", async () => {
    const events = await eventsOf(await ask(provider, "[[fault=azure]]", STREAM));
    expect(events[0]).toMatchObject({ id: "", model: "", choices: [] });
    expect(events[0].prompt_filter_results).toHaveLength(1);
    expect(events.at(-1).choices[0]).not.toHaveProperty("delta");
    const whole = await jsonOf(await ask(provider, "[[fault=azure]]"));
    expect(whole.prompt_filter_results).toHaveLength(1);
  });

  test("no_delta is one choice without delta in the middle", async () => {
    const events = await eventsOf(await ask(provider, "[[fault=no_delta after=2]]", STREAM));
    expect(events.map((event) => "delta" in event.choices[0]).indexOf(false)).toBe(2);
  });

  test("crlf ends every line in CR LF", async () => {
    const text = await (await ask(provider, "[[fault=crlf]]", STREAM)).text();
    expect(text).toEndWith("data: [DONE]\r\n\r\n");
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
  });

  test.each(["split bytes=40", "join events=4", "crlf", "comments"])(
    "%s carries the same text",
    async (fault) => {
      const events = await eventsOf(await ask(provider, `[[output=12 fault=${fault}]]`, STREAM));
      const text = events.map((event) => event.choices[0].delta.content ?? "").join("");
      expect(text).toBe(await plainText());
    },
  );

  test("split sends an event over several segments, join several events in one", async () => {
    const split = await rawly("[[output=2 fault=split bytes=100]]", STREAM);
    const isStart = (bytes: Buffer) => bytes.includes("data: ");
    expect(split.segments.filter((bytes) => !isStart(bytes)).length).toBeGreaterThan(4);
    const join = await rawly("[[output=20 fault=join events=6]]", STREAM);
    const most = Math.max(...join.segments.map((bytes) => bytes.toString().split("data: ").length - 1));
    expect(most).toBe(6);
  });

  test("split_utf8 puts segment borders inside characters", async () => {
    const { segments } = await rawly("[[output=8 fault=split_utf8]]", STREAM);
    const broken = segments.filter((bytes) => bytes.toString().includes("\ufffd"));
    expect(broken.length).toBeGreaterThan(8);
    const text = await (await ask(provider, "[[output=8 fault=split_utf8]]", STREAM)).text();
    expect(text).not.toContain("\ufffd");
    expect(text).toContain("日本");
  });
});

describe("refusals", () => {
  test.each(Object.entries(REFUSALS))("%s is sent as the table has it", async (name, refusal) => {
    for (const stream of [false, true]) {
      const response = await ask(provider, `[[fault=${name}]]`, { stream }, "sk-refused-1006");
      expect(response.status).toBe(refusal.status);
      expect(response.headers.get("retry-after")).toBeNull();
      if (typeof refusal.body === "string") expect(await response.text()).toBe(refusal.body);
      else expect(await jsonOf(response)).toEqual(refusal.body as never);
    }
    expect(lastCall("1006")).toMatchObject({ status: refusal.status, usage: null });
  });

  test.each([
    [400, OpenAI.BadRequestError],
    [401, OpenAI.AuthenticationError],
    [403, OpenAI.PermissionDeniedError],
    [404, OpenAI.NotFoundError],
    [409, OpenAI.ConflictError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [502, OpenAI.InternalServerError],
    [529, OpenAI.InternalServerError],
  ])("the official client knows %d by its class", async (status, kind) => {
    const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-sdk", maxRetries: 0 });
    const messages = [{ role: "user" as const, content: `[[fault=${status}]]` }];
    expect(await failure(client.chat.completions.create({ model: "gpt-4o", messages }))).toBeInstanceOf(kind);
  });

  test.each([
    ["retry=20", "20"],
    ["retry=0", "0"],
    ["retry=-1", "-1"],
    ["retry=soon", "soon"],
    ["retry=1.5", "1.5"],
  ])("%s is the retry-after header", async (knob, value) => {
    const response = await ask(provider, `[[fault=429 ${knob} retry_ms=12.5]]`);
    expect(response.headers.get("retry-after")).toBe(value);
    expect(response.headers.get("retry-after-ms")).toBe("12.5");
  });

  test("retry=date is an HTTP date a few seconds ahead", async () => {
    const response = await ask(provider, "[[fault=429 retry=date]]");
    const aheadMs = Date.parse(response.headers.get("retry-after")!) - Date.now();
    expect(aheadMs).toBeWithin(500, 3500);
  });

  test("an HTML error is HTML", async () => {
    const response = await ask(provider, "[[fault=502]]");
    expect(response.headers.get("content-type")).toStartWith("text/html");
  });
});

test("every fault has its row in the README", async () => {
  const readme = await Bun.file(new URL("README.md", import.meta.url)).text();
  for (const name of Object.keys(FAULTS)) expect(readme).toContain(`\n| \`${name}\` `);
});
