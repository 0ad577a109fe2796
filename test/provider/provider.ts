// A stand-in provider on loopback: takes requests, finds each its script, answers or fails as told, and keeps the true count.
// The wire is wire.ts, what is said answer.ts and the dialect, what goes wrong faults.ts and refusals.ts.

import { type Clock, realClock } from "../../src/runtime/clock.ts";
import { answerTo } from "./answer.ts";
import { type Call, callBook, type Totals, withoutSecrets } from "./calls.ts";
import { chat } from "./chat.ts";
import type { Dialect, Serving } from "./dialect.ts";
import { FAULTS } from "./faults.ts";
import { plainAnswers } from "./plain.ts";
import { badRequest, invalidUrl, NO_KEY, REFUSALS, type Refusal, retryHeaders } from "./refusals.ts";
import { finish, type Outcome, play, type Score } from "./score.ts";
import { applies, parseScript, type Script, ScriptMistake } from "./script.ts";
import { type Exchange, type Headers, openWire } from "./wire.ts";

export interface ProviderOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** False keeps the totals only. */
  readonly remember?: boolean;
  /** Prebuilt answers without scripts or keys, for load. */
  readonly plain?: boolean;
  readonly clock?: Clock;
}

export interface Provider {
  /** Such as `http://127.0.0.1:4010`, without a path. */
  readonly url: string;
  /** How a key behaves, over what a request's own script says; for its next `times` calls, or until null. */
  behave(secret: string, script: string | null, times?: number): void;
  /** The calls remembered, oldest first. */
  calls(): Call[];
  totals(): Readonly<Totals>;
  inFlight(): number;
  peakInFlight(): number;
  /** Forgets calls, totals, peaks and behaviours. */
  reset(): void;
  close(): void;
}

const MODELS = ["gpt-4o", "gpt-4o-mini", "gpt-4.1"];

/** A suffix, since some hosts put a deployment before it. */
const DIALECTS: readonly (readonly [suffix: string, dialect: Dialect])[] = [["/chat/completions", chat]];

export function startProvider(options: ProviderOptions = {}): Provider {
  const clock = options.clock ?? realClock();
  const book = callBook(options.remember ?? true);
  const behaviours = new Map<string, { readonly script: Script; left: number }>();
  const callsOfKey = new Map<string, number>();
  let inFlight = 0;
  let peak = 0;
  let answered = 0;

  async function answer(exchange: Exchange): Promise<void> {
    inFlight++;
    peak = Math.max(peak, inFlight);
    const { request } = exchange;
    const id = `${++answered}`.padStart(9, "0");
    const secret = secretOf(request.path, request.headers);
    const body = request.method === "POST" ? parsed(request.body) : null;
    const call: Call = {
      id,
      path: request.path,
      query: request.query,
      model: "",
      key: secret.slice(-4),
      headers: options.remember === false ? {} : withoutSecrets(request.headers),
      body,
      stream: false,
      startedAt: clock.wall(),
      status: 0,
      outcome: null,
      aborted: false,
      usage: null,
    };
    book.add(call);
    const outcome = await respond(exchange, call, secret);
    inFlight--;
    book.ended(call, outcome);
  }

  async function respond(exchange: Exchange, call: Call, secret: string): Promise<Outcome> {
    const { method, path } = exchange.request;
    if (secret === "") return refuse(exchange, call, NO_KEY);
    if (method === "GET" && path === "/v1/models") return listModels(exchange, call);
    const dialect = DIALECTS.find(([suffix]) => path.endsWith(suffix))?.[1];
    if (method !== "POST" || dialect === undefined) return refuse(exchange, call, invalidUrl(method, path));
    if (!isRecord(call.body))
      return refuse(exchange, call, badRequest("We could not parse the JSON body of your request."));
    const reading = readOrMistake(dialect, call.body);
    if (!reading.ok) return refuse(exchange, call, reading.refusal);
    const { ask, scripts } = reading;
    call.model = ask.model;
    call.stream = ask.stream;

    const script = scriptFor(secret, ask.model, scripts);
    if (script.head_ms !== undefined && !(await exchange.wait(script.head_ms))) return "aborted";
    const refusal = REFUSALS[script.fault ?? ""];
    if (refusal !== undefined) return refuse(exchange, call, refusal, retryHeaders(script, clock));
    const headless = FAULTS[script.fault ?? ""]?.headless;
    if (headless !== undefined) return finish(exchange, headless(script));

    const createdS = Math.floor(clock.wall() / 1000);
    const serving = { id: `chatcmpl-${call.id}`, createdS, ask, answer: answerTo(ask, script), script };
    const streamed = ask.stream && script.fault !== "unstreamed";
    const { usage } = serving.answer;
    call.status = 200;
    call.usage = { ...usage, completion: usage.reasoning + usage.audioOut };
    const type = streamed ? "text/event-stream; charset=utf-8" : "application/json";
    const head = { status: 200, headers: { "content-type": type, ...manners(call.id) } };
    const score = streamed ? streamScore(dialect, serving) : wholeScore(dialect, serving);
    return play(exchange, head, score, (tokens) => {
      call.usage!.completion += tokens;
    });
  }

  /** The request's markers in order, then the key's behaviour; later words win. */
  function scriptFor(secret: string, model: string, scripts: readonly Script[]): Script {
    const nth = (callsOfKey.get(secret) ?? 0) + 1;
    callsOfKey.set(secret, nth);
    const behaviour = behaviours.get(secret);
    const active = behaviour !== undefined && behaviour.left-- > 0 ? [...scripts, behaviour.script] : scripts;
    const script = Object.assign(
      {},
      ...active.filter((one) => applies(one, { secret, model, nth })),
    ) as Script;
    return { ...FAULTS[script.fault ?? ""]?.implies, ...script };
  }

  const plain = options.plain === true ? plainAnswers() : null;
  function answerPlain(exchange: Exchange): void {
    const streamed = exchange.request.body.includes('"stream":true');
    book.totals.calls++;
    book.totals.complete++;
    book.totals.promptTokens += plain!.promptTokens;
    book.totals.completionTokens += plain!.completionTokens;
    exchange.raw(streamed ? plain!.stream : plain!.whole);
  }

  const wire = openWire({ port: options.port ?? 0, clock, answer: plain === null ? answer : answerPlain });
  return {
    url: `http://127.0.0.1:${wire.port}`,
    behave(secret, script, times = Number.POSITIVE_INFINITY) {
      if (script === null) behaviours.delete(secret);
      else behaviours.set(secret, { script: parseScript(script), left: times });
    },
    calls: () => book.list(),
    totals: () => ({ ...book.totals }),
    inFlight: () => inFlight,
    peakInFlight: () => peak,
    reset() {
      book.clear();
      behaviours.clear();
      callsOfKey.clear();
      peak = inFlight;
    },
    close: () => wire.close(),
  };
}

/** Headers real providers add, some of which a gateway must keep to itself. */
const manners = (id: string): Headers => ({
  "x-request-id": `req_${id}`,
  "openai-organization": "org-standin",
  "openai-processing-ms": "1",
  "x-ratelimit-limit-requests": "10000",
  "x-ratelimit-remaining-requests": "9999",
  "x-ratelimit-reset-requests": "6ms",
  "set-cookie": "__cf_bm=standin; path=/; HttpOnly",
});

function refuse(exchange: Exchange, call: Call, refusal: Refusal, more: Headers = {}): Outcome {
  const body = typeof refusal.body === "string" ? refusal.body : JSON.stringify(refusal.body);
  const headers = { "content-type": "application/json", ...manners(call.id), ...refusal.headers, ...more };
  call.status = refusal.status;
  return sayWhole(exchange, refusal.status, headers, body);
}

function listModels(exchange: Exchange, call: Call): Outcome {
  const data = MODELS.map((id) => ({ id, object: "model", created: 1_715_367_049, owned_by: "standin" }));
  const body = JSON.stringify({ object: "list", data });
  call.status = 200;
  return sayWhole(exchange, 200, { "content-type": "application/json", ...manners(call.id) }, body);
}

function sayWhole(exchange: Exchange, status: number, headers: Headers, body: string): Outcome {
  exchange.open(status, headers, Buffer.byteLength(body));
  exchange.send(body);
  exchange.end();
  return exchange.gone ? "aborted" : "complete";
}

function streamScore(dialect: Dialect, serving: Serving): Score {
  const { script } = serving;
  const pieces = dialect.stream(serving);
  const score: Score = { pieces, ending: "end", firstMs: script.first_ms ?? 0, gapMs: script.chunk_ms ?? 0 };
  return FAULTS[script.fault ?? ""]?.stream?.(score, script, dialect.wording(serving)) ?? score;
}

function wholeScore(dialect: Dialect, serving: Serving): Score {
  const { script, answer } = serving;
  const body = dialect.whole(serving);
  const tokens = answer.usage.completion - answer.usage.reasoning - answer.usage.audioOut;
  const score: Score = {
    pieces: [{ data: body, tokens }],
    lengthBytes: Buffer.byteLength(body),
    ending: "end",
    firstMs: script.first_ms ?? 0,
    gapMs: 0,
  };
  return FAULTS[script.fault ?? ""]?.whole?.(score, script, dialect.wording(serving)) ?? score;
}

/** The dialect's reading; a mistake in a script becomes a refusal that names it. */
function readOrMistake(dialect: Dialect, body: Readonly<Record<string, unknown>>) {
  try {
    return dialect.read(body);
  } catch (error) {
    if (!(error instanceof ScriptMistake)) throw error;
    return { ok: false, refusal: badRequest(error.message, null, "bad_script") } as const;
  }
}

/** Deployment paths take `api-key`, all others a bearer token. */
function secretOf(path: string, headers: Headers): string {
  if (path.startsWith("/openai/")) return headers["api-key"] ?? "";
  return /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? "";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
