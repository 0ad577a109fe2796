// CPU time of a request of a long conversation, which is passed on in its own style. Three sides take turns: the service, a
// pass-through of bytes, and the same pass-through when it decodes and parses each body once. The difference of the latter
// two is a read. The service may cost what the pass-through costs and 1.3 reads.

import { join } from "node:path";
import { WrongResult } from "./books.ts";
import { CONVERSATION_STYLES, type ConversationStyle, conversationText } from "./conversation-body.ts";
import { median, range } from "./figures.ts";
import type { LastBody } from "./large-upstream.ts";
import type { Measure, Row } from "./measure.ts";
import { type Process, start } from "./process.ts";
import { inTurns } from "./rounds.ts";
import { onStage, type Stage } from "./stage.ts";

interface Size {
  readonly what: string;
  readonly turns: number;
  readonly tools: number;
  readonly bytes: number;
  /** Requests in a round. */
  readonly requests: number;
}

const SIZES: readonly Size[] = [
  { what: "2 MB", turns: 300, tools: 200, bytes: 2_000_000, requests: 100 },
  { what: "200 KB", turns: 60, tools: 40, bytes: 200_000, requests: 800 },
];
const STYLE_NAMES = Object.keys(CONVERSATION_STYLES) as ConversationStyle[];
/** Requests in flight. */
const CONCURRENCY = 16;
/** How often the body may be decoded and parsed beside the pass-through. */
const READS_MAX = 1.3;

export const conversations: Measure = {
  name: "conversations",
  about: "CPU time of a long conversation's request against pass-through, decoding and parsing",
  run: async (quick) => {
    const rows: Row[] = [];
    const upstream = await start([besides("large-upstream.ts")]);
    const passThrough = await start([besides("byte-pass-through.ts"), upstream.url]);
    const reading = await start([besides("byte-pass-through.ts"), upstream.url, "reading"]);
    const others = { upstream, passThrough, reading };
    try {
      for (const size of SIZES) {
        for (const style of STYLE_NAMES) {
          // Keys of the chat style serve the path of responses too.
          const keys = style === "responses" ? "chat" : style;
          rows.push(
            await onStage({ style: keys }, (stage) => measureOne(stage, others, style, size, quick ? 3 : 7)),
          );
        }
      }
    } finally {
      for (const one of [reading, passThrough, upstream]) await one.stop();
    }
    return { rows, notes: [] };
  },
};

const besides = (path: string): string => join(import.meta.dirname, path);

interface Others {
  readonly upstream: Process;
  readonly passThrough: Process;
  readonly reading: Process;
}

async function measureOne(
  { service, admin }: Stage,
  { upstream, passThrough, reading }: Others,
  style: ConversationStyle,
  size: Size,
  rounds: number,
): Promise<Row> {
  const [account] = await admin.createOwner({
    name: "long",
    secrets: ["sk-provider-long-0123456789"],
    accounts: 1,
    provider: upstream.url,
  });
  const { path, headers } = CONVERSATION_STYLES[style];
  const body = Buffer.from(conversationText(style, size));
  const sent = { "content-type": "application/json", ...headers(account!.key) };
  const ask = async ({ url }: Process) => {
    const response = await fetch(url + path, { method: "POST", headers: sent, body });
    const text = await response.text();
    if (response.status !== 200) throw new WrongResult(`${response.status} ${text}`);
  };
  /** Returns the CPU time of a server in µs for each of the requests of a round. */
  const spent = async (server: Process) => {
    const before = server.cpuMs();
    let left = size.requests;
    const work = async () => {
      while (left-- > 0) await ask(server);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    return ((server.cpuMs() - before) * 1000) / size.requests;
  };

  await checkSame(ask, [service, passThrough, reading], upstream, body);
  const sides = [service, passThrough, reading].map((server) => () => spent(server));
  const [serviceUs, passThroughUs, readingUs] = await inTurns(sides, rounds);
  const { charges } = await admin.ledger(account!);
  const answers = 1 + size.requests * (rounds + 1);
  if (charges !== answers) throw new WrongResult(`${answers} answers, but ${charges} charges in the ledger`);
  // Differences of single rounds of three processes vary more than what they cost.
  const passed = median(passThroughUs!);
  const readUs = median(readingUs!) - passed;
  const reads = serviceUs!.map((us) => (us - passed) / readUs);
  return {
    what: `CPU per request of a conversation of ${size.what}, ${style}`,
    service: `${median(serviceUs!).toFixed(0)} µs`,
    passThrough: `${passed.toFixed(0)} µs; to read once ${readUs.toFixed(0)} µs`,
    result: `pass-through + ${median(reads).toFixed(2)} reads (${range(reads, 2)})`,
    target: `≤ ${READS_MAX} reads`,
  };
}

/** Throws WrongResult unless all servers send on exactly the bytes that came. */
async function checkSame(
  ask: (server: Process) => Promise<void>,
  servers: readonly Process[],
  upstream: Process,
  body: Uint8Array,
): Promise<void> {
  const sent = new Bun.CryptoHasher("sha256").update(body).digest("hex");
  for (const server of servers) {
    await ask(server);
    const { sha256 } = (await (await fetch(upstream.url)).json()) as LastBody;
    if (sha256 !== sent) throw new WrongResult("other bytes were sent on than came");
  }
}
