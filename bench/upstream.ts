// The provider of the benchmark, a process of its own: the stand-in's prebuilt answers on its raw wire, so that the
// upstream costs next to nothing. The path chooses the style, and the answer names the model of the request; words in the
// request choose how the answer is given:
//   (none)     in one write           bench-apart   a stream with each event in a write and a turn of its own
//   bench-idle   a stream of one event that does not end
//   bench-gate=N   no answer before N requests have come
// A dead secret gets a 500 at once.
// `GET /facts` returns what has arrived; `bun bench/upstream.ts` prints the address it serves on.

import { realClock } from "../src/base/clock.ts";
import { chat } from "../test/provider/chat.ts";
import type { Dialect } from "../test/provider/dialect.ts";
import { messages } from "../test/provider/messages.ts";
import { plainAnswers } from "../test/provider/plain.ts";
import { type Exchange, openWire } from "../test/provider/wire.ts";
import { DEAD, STYLES, type StyleName } from "./styles.ts";

export interface UpstreamFacts {
  readonly calls: number;
  /** Calls with a dead secret. */
  readonly refused: number;
  readonly inFlight: number;
  readonly peak: number;
  readonly gateOpened: boolean;
  readonly lastBody: string;
}

/** A gate that never fills opens after this time, so that a failed run ends. */
const GATE_MS_MAX = 20_000;

interface Answers {
  readonly whole: Uint8Array;
  readonly stream: Uint8Array;
  readonly pieces: readonly Uint8Array[];
}

/** The answers of a path, by the model that is asked: the answer names that one. */
const ANSWERS: Readonly<Record<string, Readonly<Record<StyleName, Answers>>>> = {
  [STYLES.chat.path]: answersIn(chat),
  [STYLES.messages.path]: answersIn(messages),
};
const MESSAGES_MODEL = `"model":"${STYLES.messages.model}"`;
const REFUSAL = refusal('{"error":{"message":"This key is dead.","type":"server_error","code":null}}');
let calls = 0;
let refused = 0;
let inFlight = 0;
let peak = 0;
let lastBody = "";
let gated: { readonly exchange: Exchange; readonly answers: Answers }[] = [];
let gateOpened = false;
let gateTimer: Timer | null = null;

function answer(exchange: Exchange): void {
  const { method, path, headers, body } = exchange.request;
  if (method === "GET") {
    tellFacts(exchange);
    return;
  }
  calls++;
  peak = Math.max(peak, ++inFlight);
  if ((headers.authorization ?? headers["x-api-key"] ?? "").includes(DEAD)) {
    refused++;
    give(exchange, REFUSAL);
    return;
  }
  lastBody = body;
  const answers = ANSWERS[path]![body.includes(MESSAGES_MODEL) ? "messages" : "chat"];
  const streamed = body.includes('"stream":true');
  const gate = /bench-gate=(\d+)/.exec(body);
  if (gate !== null) hold(exchange, answers, Number(gate[1]));
  else if (streamed && body.includes("bench-idle")) sendFirst(exchange, answers.pieces);
  else if (streamed && body.includes("bench-apart")) sendApart(exchange, answers.pieces, 0);
  else give(exchange, streamed ? answers.stream : answers.whole);
}

function give(exchange: Exchange, bytes: Uint8Array): void {
  inFlight--;
  exchange.raw(bytes);
}

function hold(exchange: Exchange, answers: Answers, size: number): void {
  gated.push({ exchange, answers });
  gateTimer ??= setTimeout(openGate, GATE_MS_MAX);
  if (gated.length < size) return;
  gateOpened = true;
  openGate();
}

function openGate(): void {
  clearTimeout(gateTimer ?? undefined);
  gateTimer = null;
  const held = gated;
  gated = [];
  for (const { exchange, answers } of held) give(exchange, answers.whole);
}

function sendFirst(exchange: Exchange, pieces: readonly Uint8Array[]): void {
  exchange.open(200, { "content-type": "text/event-stream; charset=utf-8" });
  for (const piece of pieces.slice(0, 2)) exchange.send(piece);
  exchange.flush();
  void exchange.untilGone().then(() => inFlight--);
}

function sendApart(exchange: Exchange, pieces: readonly Uint8Array[], at: number): void {
  if (exchange.gone) {
    inFlight--;
    return;
  }
  if (at === 0) exchange.open(200, { "content-type": "text/event-stream; charset=utf-8" });
  if (at === pieces.length) {
    inFlight--;
    exchange.end();
    return;
  }
  exchange.send(pieces[at]!);
  exchange.flush();
  setImmediate(sendApart, exchange, pieces, at + 1);
}

function tellFacts(exchange: Exchange): void {
  const facts: UpstreamFacts = { calls, refused, inFlight, peak, gateOpened, lastBody };
  const body = JSON.stringify(facts);
  exchange.open(200, { "content-type": "application/json" }, Buffer.byteLength(body));
  exchange.send(body);
  exchange.end();
}

function answersIn(dialect: Dialect): Readonly<Record<StyleName, Answers>> {
  const answersOf = ({ model }: { readonly model: string }): Answers => {
    const { whole, stream } = plainAnswers(dialect, model);
    return { whole, stream, pieces: streamPieces(stream) };
  };
  return { chat: answersOf(STYLES.chat), messages: answersOf(STYLES.messages) };
}

function refusal(body: string): Uint8Array {
  const head = `HTTP/1.1 500 Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return Buffer.from(`${head}\r\n\r\n${body}`);
}

/** The events inside a ready answer: its chunks, without head and sizes. */
function streamPieces(bytes: Uint8Array): Uint8Array[] {
  const text = new TextDecoder().decode(bytes);
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  return [...body.matchAll(/(?:event: .*\n)?data: .*\n\n/g)].map(([event]) => Buffer.from(event));
}

const wire = openWire({ port: 0, clock: realClock(), answer });
console.log(`http://127.0.0.1:${wire.port}`);
