// A stand-in provider on loopback: takes requests, finds each its script, answers or fails as the script says, and keeps the true count.
// The wire is wire.ts, what is said answer.ts and the dialect, what goes wrong faults.ts and refusals.ts.

import { type Clock, realClock } from "../../src/base/clock.ts";
import { answerTo, hiddenTokens } from "./answer.ts";
import { keptScore, packing, plainScore, streamScore, wholeScore } from "./arrange.ts";
import { type Call, callBook, type Totals } from "./calls.ts";
import { chat } from "./chat.ts";
import type { Dialect, Serving } from "./dialect.ts";
import { FAULTS } from "./faults.ts";
import { type FilePart, seen } from "./form.ts";
import { withoutSecrets } from "./keys.ts";
import { plainAnswers } from "./plain.ts";
import { type CacheUse, promptCaches } from "./prompt-cache.ts";
import { badRequest, invalidUrl, NO_KEY, type Refusal, retryHeaders } from "./refusal.ts";
import { REFUSALS } from "./refusals.ts";
import { dialectOf, modelList, PLAIN_DIALECTS } from "./routes.ts";
import { finish, type Outcome, play } from "./score.ts";
import { applies, parseScript, type Script } from "./script.ts";
import { NOTHING_SENT, readIn, sentBy } from "./sent.ts";
import { isOfKept, isRefusal, shelf } from "./stored.ts";
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
  /** Forgets calls, totals, peaks, behaviours, and what was kept for keys. */
  reset(): void;
  close(): void;
}

const withCacheUse = (script: Script, { cached, written }: CacheUse): Script => ({
  ...script,
  cached,
  cache_write: written,
});

const UNREADABLE = badRequest("A field of your request has a type that is not expected there.");

const JSON_TYPE = "application/json";
const EVENTS_TYPE = "text/event-stream; charset=utf-8";

export function startProvider(options: ProviderOptions = {}): Provider {
  const clock = options.clock ?? realClock();
  const book = callBook(options.remember ?? true);
  const kept = shelf();
  const prompts = promptCaches();
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
    const dialect = dialectOf(request.path);
    // Where no dialect is spoken, refusals and keys are as in chat.
    const secret = (dialect ?? chat).keyOf(request.path, request.headers);
    const { fields, files } = request.method === "POST" ? sentBy(request, dialect) : NOTHING_SENT;
    const remember = options.remember !== false;
    const call: Call = {
      id,
      method: request.method,
      path: request.path,
      query: request.query,
      model: "",
      key: secret.slice(-4),
      headers: remember ? withoutSecrets(request.headers) : {},
      body: fields,
      bytes: request.bytes,
      files: remember ? files.map(seen) : [],
      stream: false,
      startedAt: clock.wall(),
      status: 0,
      outcome: null,
      aborted: false,
      usage: null,
      units: null,
    };
    book.add(call);
    const outcome = await respond(exchange, call, dialect, secret, files).catch((error: unknown) => {
      // A field has a type that the dialect does not expect: a provider refuses such a body, and goes on.
      if (!(error instanceof TypeError) || call.status !== 0) throw error;
      return sayRefusal(exchange, call, dialect ?? chat, UNREADABLE, {});
    });
    inFlight--;
    book.ended(call, outcome);
  }

  async function respond(
    exchange: Exchange,
    call: Call,
    dialect: Dialect | undefined,
    secret: string,
    files: readonly FilePart[],
  ): Promise<Outcome> {
    const { method, path, headers } = exchange.request;
    const refuse = (refusal: Refusal, script: Script = {}) =>
      sayRefusal(exchange, call, dialect ?? chat, refusal, script);
    if (secret === "") return refuse(NO_KEY);
    if (method === "GET" && path === "/v1/models") return listModels(exchange, call);
    if (method !== "POST" && isOfKept(path)) return sayKept(exchange, call, secret);
    if (method !== "POST" || dialect === undefined) return refuse(invalidUrl(method, path));
    if (!isRecord(call.body)) return refuse(badRequest("We could not parse the JSON body of your request."));
    const reading = readIn(dialect, call.body, headers, files);
    if (!reading.ok) return refuse(reading.refusal);
    const { ask, scripts } = reading;
    call.model = ask.model;
    call.stream = ask.stream;

    const found = scriptFor(secret, ask.model, scripts);
    const troubled = await trouble(exchange, call, dialect, found);
    if (troubled !== null) return troubled;
    const missing =
      kept.missing(secret, dialect.refers?.(call.body) ?? []) ??
      dialect.unreadable?.(call.body, found) ??
      null;
    if (missing !== null) return refuse(missing, found);
    const script =
      found.prompt_cache === undefined
        ? found
        : withCacheUse(found, prompts.use(secret, call.body, dialect.style === "messages"));

    const createdS = Math.floor(clock.wall() / 1000);
    const id = `${dialect.idPrefix}${call.id}`;
    const sent = { body: call.body, files };
    const answer = dialect.answer?.(ask, script, sent) ?? answerTo(ask, script);
    const serving: Serving = { id, createdS, ask, answer, script, ...sent };
    const streamed = ask.stream && script.fault !== "unstreamed";
    const { usage, units } = answer;
    if (dialect.generates) {
      call.usage = { ...usage, completion: hiddenTokens(usage) };
      call.units = units ?? {};
    }
    kept.keep(secret, dialect.keeps?.(serving) ?? {});
    const type = dialect.contentType?.(serving, streamed) ?? (streamed ? EVENTS_TYPE : JSON_TYPE);
    const head = {
      status: 200,
      headers: { "content-type": type, ...dialect.manners(call.id), ...packing(script) },
    };
    const score = streamed ? streamScore(dialect, serving) : wholeScore(dialect, serving);
    call.status = 200;
    return play(exchange, head, score, (tokens) => {
      if (call.usage !== null) call.usage.completion += tokens;
    });
  }

  /** What the script has instead of an answer; null when there is to be one. */
  async function trouble(
    exchange: Exchange,
    call: Call,
    dialect: Dialect,
    script: Script,
  ): Promise<Outcome | null> {
    if (script.head_ms !== undefined && !(await exchange.wait(script.head_ms))) return "aborted";
    const refusal = REFUSALS[script.fault ?? ""];
    if (refusal !== undefined) return sayRefusal(exchange, call, dialect, refusal, script);
    const headless = FAULTS[script.fault ?? ""]?.headless;
    return headless === undefined ? null : finish(exchange, headless(script));
  }

  /** Something kept, asked for or deleted. Only the key's behaviour can script it: there is no text. */
  async function sayKept(exchange: Exchange, call: Call, secret: string): Promise<Outcome> {
    const script = scriptFor(secret, "", []);
    const troubled = await trouble(exchange, call, chat, script);
    if (troubled !== null) return troubled;
    const recalled = kept.recall(secret, call.method, call.path);
    if (isRefusal(recalled)) return sayRefusal(exchange, call, chat, recalled, script);
    call.status = 200;
    const headers = { "content-type": JSON_TYPE, ...chat.manners(call.id), ...packing(script) };
    return play(exchange, { status: 200, headers }, keptScore(JSON.stringify(recalled), script), () => {});
  }

  function sayRefusal(
    exchange: Exchange,
    call: Call,
    dialect: Dialect,
    refusal: Refusal,
    script: Script,
  ): Promise<Outcome> {
    const { body, headers: own } = refusal[dialect.style];
    const headers = {
      "content-type": "application/json",
      ...dialect.manners(call.id),
      ...own,
      ...retryHeaders(script, clock),
      ...packing(script),
    };
    call.status = refusal.status;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return sayAtOnce(exchange, refusal.status, headers, text, script);
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

  const plain =
    options.plain === true ? new Map(PLAIN_DIALECTS.map((one) => [one, plainAnswers(one)])) : null;
  function answerPlain(exchange: Exchange): void {
    const answers = plain!.get(dialectOf(exchange.request.path) ?? chat) ?? plain!.get(chat)!;
    const streamed = exchange.request.body.includes('"stream":true');
    book.totals.calls++;
    book.totals.complete++;
    book.totals.promptTokens += answers.promptTokens;
    book.totals.completionTokens += answers.completionTokens;
    exchange.raw(streamed ? answers.stream : answers.whole);
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
      kept.clear();
      prompts.clear();
      peak = inFlight;
    },
    close: () => wire.close(),
  };
}

function listModels(exchange: Exchange, call: Call): Promise<Outcome> {
  const headers = { "content-type": "application/json", ...chat.manners(call.id) };
  call.status = 200;
  return sayAtOnce(exchange, 200, headers, JSON.stringify(modelList()));
}

const sayAtOnce = (exchange: Exchange, status: number, headers: Headers, body: string, script: Script = {}) =>
  play(exchange, { status, headers }, plainScore(body, script), () => {});

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
