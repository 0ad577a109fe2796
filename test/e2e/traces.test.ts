// Traces end to end, with a collector's stand-in: what is exported of whole, streamed, failed-over and refused requests,
// the context on its way in and out, and that neither content nor a secret is in any export.

import { afterAll, expect, test } from "bun:test";
import { asking, charges, fresh, type Json, MODEL, until } from "./harness.ts";
import { prepared, useBench } from "./use-bench.ts";

const exported: string[] = [];
const authorized: (string | null)[] = [];
const collector = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (new URL(request.url).pathname !== "/v1/traces") return new Response(null, { status: 404 });
    authorized.push(request.headers.get("authorization"));
    exported.push(await request.text());
    return Response.json({ partialSuccess: {} });
  },
});
afterAll(() => collector.stop(true));

const SECRET = "collector-secret-4711";
const bench = useBench({
  settings: {
    KEY_FAILURES: "1000",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${SECRET}`,
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    OTEL_EXPORTER_OTLP_TIMEOUT: "1000",
  },
});
const owner = prepared(() => bench.owner({ keys: 2, credit: 100 }));
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 50 }));

interface Exported {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, unknown>>;
}

const plain = (value: Json): unknown => Object.values(value)[0];
const spansIn = (text: string): Exported[] =>
  JSON.parse(text).resourceSpans.flatMap((one: Json) =>
    one.scopeSpans.flatMap((scope: Json) =>
      scope.spans.map((span: Json) => ({
        ...span,
        attributes: Object.fromEntries(span.attributes.map(({ key, value }: Json) => [key, plain(value)])),
      })),
    ),
  );

/** Waits until the span of a request is exported, and returns its trace: the span of the request last. */
async function traceOf(requestId: string): Promise<Exported[]> {
  const ours = () => {
    const all = exported.flatMap(spansIn);
    const server = all.find(({ attributes }) => attributes["arborgate.request.id"] === requestId);
    return server && [...all.filter(({ parentSpanId }) => parentSpanId === server.spanId), server];
  };
  await until(`the trace of ${requestId}`, () => ours() !== undefined);
  return ours()!;
}

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const STRANGER = "5bf92f3577b34da6a3ce929d0e0e4736";
const WORDS = "a sentence that no collector may read";

test("a whole answer, with the caller's trace and its charge", async () => {
  const id = `trace-${fresh()}`;
  const headers = { "x-request-id": id, traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
  const answer = await bench.chat(user.key, WORDS, {}, { headers });
  expect(answer.status).toBe(200);
  const [attempt, server] = await traceOf(id);
  expect([attempt!.traceId, server!.traceId, server!.parentSpanId]).toEqual([
    TRACE,
    TRACE,
    "00f067aa0ba902b7",
  ]);
  expect(server!.attributes["arborgate.cost"]).toBe(Number(answer.headers.get("x-arbor-cost")));
  expect(server!.attributes["arborgate.basis"]).toBe("provider");
  expect(attempt!.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": MODEL,
    "gen_ai.usage.input_tokens": answer.body.usage.prompt_tokens,
    "gen_ai.usage.output_tokens": answer.body.usage.completion_tokens,
    "server.address": "127.0.0.1",
    "arborgate.level": 1,
  });
  // The provider reads the context of the attempt.
  expect(bench.provider.calls().at(-1)!.headers.traceparent).toBe(`00-${TRACE}-${attempt!.spanId}-01`);
});

test("a model has the name of its price, whatever a client writes around it", async () => {
  const id = `trace-${fresh()}`;
  const model = `sk-secret/${MODEL}`;
  await bench.chat(user.key, WORDS, { model }, { headers: { "x-request-id": id } });
  const spans = await traceOf(id);
  expect(JSON.stringify(spans)).not.toContain("sk-secret");
  expect(spans.map(({ name }) => name)).toEqual([`chat ${MODEL}`, "POST /v1/chat/completions"]);
});

test("a stream ends its spans with its charge", async () => {
  const id = `trace-${fresh()}`;
  const answer = await bench.chat(user.key, WORDS, { stream: true }, { headers: { "x-request-id": id } });
  expect(answer.text).toContain("[DONE]");
  const [attempt, server] = await traceOf(id);
  expect(attempt!.attributes["gen_ai.request.stream"]).toBe(true);
  expect(attempt!.attributes["gen_ai.response.time_to_first_chunk"]).toBeGreaterThan(0);
  const line = charges(await bench.ledger(user.key)).at(-1);
  expect(server!.attributes["arborgate.cost"]).toBe(-Number(line.amount));
});

test("failover: a span for each attempt", async () => {
  const id = `trace-${fresh()}`;
  bench.provider.behave(owner.secrets[0]!, "fault=500");
  try {
    const answer = await bench.chat(user.key, WORDS, {}, { headers: { "x-request-id": id } });
    const spans = await traceOf(id);
    expect(spans.length - 1).toBe(Number(answer.headers.get("x-arbor-attempts")));
    const failed = spans.filter(({ status }) => status.code === 2);
    expect(failed.map(({ attributes }) => attributes["error.type"])).toEqual(
      spans.slice(0, -2).map(() => "server_error"),
    );
  } finally {
    bench.provider.behave(owner.secrets[0]!, null);
  }
});

test("a refused request has no attempt, and its code", async () => {
  const id = `trace-${fresh()}`;
  const answer = await bench.chat(user.key, WORDS, { messages: "none" }, { headers: { "x-request-id": id } });
  expect(answer.status).toBe(400);
  const spans = await traceOf(id);
  expect(spans).toHaveLength(1);
  expect(spans[0]!.attributes).toMatchObject({
    "arborgate.code": answer.body.error.code,
    "http.response.status_code": 400,
  });
});

test("without a valid API key there is no span, even where the client's context says that it samples", async () => {
  const headers = { traceparent: `00-${STRANGER}-00f067aa0ba902b7-01` };
  expect((await bench.chat("ar-nobody-knows-this-key", WORDS, {}, { headers })).status).toBe(401);
  const keyless = await bench.call(null, "POST", "/v1/chat/completions", asking(WORDS), { headers });
  expect(keyless.status).toBe(401);
  // Spans are exported in the order in which they end.
  await traceOf(await requestNamed());
  expect(exported.join("\n")).not.toContain(STRANGER);
});

test("what is exported names the node, and holds no content, key or name", async () => {
  await traceOf(await requestNamed());
  const all = exported.join("\n");
  const resource = JSON.parse(exported[0]!).resourceSpans[0].resource.attributes;
  const named = Object.fromEntries(resource.map(({ key, value }: Json) => [key, plain(value)]));
  expect(named).toMatchObject({ "service.name": "arborgate", "deployment.environment.name": "test" });
  expect(named["service.instance.id"]).toBe(bench.service.name);
  expect(authorized).toEqual(authorized.map(() => `Bearer ${SECRET}`));
  for (const hidden of [WORDS, user.key, owner.key, user.name, owner.name, ...owner.secrets, SECRET]) {
    expect(all).not.toContain(hidden);
  }
  expect(JSON.stringify(bench.log)).not.toContain(SECRET);
});

async function requestNamed(): Promise<string> {
  const id = `trace-${fresh()}`;
  await bench.chat(user.key, WORDS, {}, { headers: { "x-request-id": id } });
  return id;
}

test("a collector that is away delays no answer, and is logged without what it says", async () => {
  collector.stop(true);
  expect((await bench.chat(user.key, WORDS)).status).toBe(200);
  const line = () => bench.log.find(({ event }) => event === "traces_not_exported");
  await until("the log says so", () => line() !== undefined);
  expect(line()!.fields).toEqual({ error: expect.any(String), code: expect.stringMatching(/^ECONN/) });
});
