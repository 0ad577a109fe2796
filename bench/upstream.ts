// The provider of the benchmark, a process of its own: the stand-in's prebuilt answers on its raw wire, so that the
// upstream costs next to nothing. Words in the request choose how the answer is given:
//   (none)     in one write           bench-apart   a stream with each event in a write and a turn of its own
//   bench-gate=N   no answer before N requests have come
// `GET /facts` tells what has arrived; `bun bench/upstream.ts` prints the address it serves on.

import { realClock } from "../src/runtime/clock.ts";
import { plainAnswers } from "../test/provider/plain.ts";
import { type Exchange, openWire } from "../test/provider/wire.ts";

export interface UpstreamFacts {
  readonly calls: number;
  readonly inFlight: number;
  readonly peak: number;
  readonly gateOpened: boolean;
  readonly lastBody: string;
}

/** A gate that never fills opens all the same, so that a failed run ends. */
const GATE_MOST_MS = 20_000;

const answers = plainAnswers();
const pieces = streamPieces(answers.stream);
let calls = 0;
let inFlight = 0;
let peak = 0;
let lastBody = "";
let gated: Exchange[] = [];
let gateOpened = false;
let gateTimer: Timer | null = null;

function answer(exchange: Exchange): void {
  const { method, body } = exchange.request;
  if (method === "GET") {
    tellFacts(exchange);
    return;
  }
  calls++;
  peak = Math.max(peak, ++inFlight);
  lastBody = body;
  const streamed = body.includes('"stream":true');
  const gate = /bench-gate=(\d+)/.exec(body);
  if (gate !== null) hold(exchange, Number(gate[1]));
  else if (streamed && body.includes("bench-apart")) sendApart(exchange, 0);
  else give(exchange, streamed ? answers.stream : answers.whole);
}

function give(exchange: Exchange, bytes: Uint8Array): void {
  inFlight--;
  exchange.raw(bytes);
}

function hold(exchange: Exchange, size: number): void {
  gated.push(exchange);
  gateTimer ??= setTimeout(openGate, GATE_MOST_MS);
  if (gated.length < size) return;
  gateOpened = true;
  openGate();
}

function openGate(): void {
  clearTimeout(gateTimer ?? undefined);
  gateTimer = null;
  const held = gated;
  gated = [];
  for (const exchange of held) give(exchange, answers.whole);
}

function sendApart(exchange: Exchange, at: number): void {
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
  setImmediate(sendApart, exchange, at + 1);
}

function tellFacts(exchange: Exchange): void {
  const facts: UpstreamFacts = { calls, inFlight, peak, gateOpened, lastBody };
  const body = JSON.stringify(facts);
  exchange.open(200, { "content-type": "application/json" }, Buffer.byteLength(body));
  exchange.send(body);
  exchange.end();
}

/** The events inside a ready answer: its chunks, without head and sizes. */
function streamPieces(bytes: Uint8Array): Uint8Array[] {
  const text = new TextDecoder().decode(bytes);
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  return [...body.matchAll(/data: .*\n\n/g)].map(([event]) => Buffer.from(event));
}

const wire = openWire({ port: 0, clock: realClock(), answer });
console.log(`http://127.0.0.1:${wire.port}`);
