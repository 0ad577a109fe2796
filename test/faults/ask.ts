// One case, asked: an Owner, keys and an account of its own, one request, and everything that can be seen from outside once
// the response has ended. What the store and the stand-in know of it is gathered later, when all is quiet.

import {
  type Account,
  type Bench,
  charges,
  type Json,
  jsonOf,
  MODEL,
  type Owner,
  until,
} from "../e2e/harness.ts";
import { bodyOf, CLIENTS, FOREIGN, type ReadStream } from "./client.ts";
import { PRICES } from "./price.ts";
import { type Case, type ClientStyle, GOOD } from "./rows.ts";

/** What the account of a case starts with, in US dollars. */
export const CREDIT = 10;

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined where the text is no JSON. */
  readonly body: Json;
  /** Null for a response that is no stream. */
  readonly stream: ReadStream | null;
}

/** What was seen of a case from outside. */
export interface Asked {
  readonly one: Case;
  readonly tag: string;
  readonly owner: Owner;
  readonly response: Received;
  /** The charges of its account, in nano-dollars as the ledger has them. */
  readonly charges: readonly Json[];
  /** In US dollars. */
  readonly balance: number;
  /** Nothing is held of the account once the response has ended, and a moment for a cancelled hold. */
  readonly released: boolean;
}

const RELEASED_MS = 20_000;
/** Many times what all attempts together may take: who has no answer by then gets none. */
const ANSWER_MS = 120_000;

export async function askCase(bench: Bench, one: Case, tag: string): Promise<Asked> {
  const pricing = { ChatPricing: { [MODEL]: PRICES } };
  const hasPath = one.speaks === "responses";
  const owner = await bench.owner({ credit: 100, pricing, style: hasPath ? "chat" : one.speaks });
  if (one.style === "responses") await setResponses(bench, owner, owner.keys[0]!.id, hasPath);
  const user = await bench.subaccount(owner, { CreditGranted: CREDIT });
  bench.provider.behave(owner.secrets[0]!, one.script);
  if (one.keys === 2) {
    // One that has the path would be asked before the key that fails.
    const Config = one.style === "responses" ? { responses: false } : { api_style: one.style };
    const [second] = await bench.level(owner, 1, 1, { Config });
    bench.provider.behave(second!.secret, GOOD);
  }
  const response = await send(bench, user, one, tag);
  return {
    one,
    tag,
    owner,
    response,
    charges: charges(await bench.ledger(user.key)),
    balance: await bench.balance(user.key),
    released: await isReleased(bench, user, one),
  };
}

/** Says whether a key's provider has the path of the responses style. */
async function setResponses(bench: Bench, owner: Owner, key: number, responses: boolean): Promise<void> {
  const { status, text } = await bench.call(owner.key, "PUT", `/x-keys/${key}`, { Config: { responses } });
  if (status !== 200) throw new Error(text);
}

/** A store that lags on a busy machine refuses at the door; a client asks again, as the answer says. */
const DOOR_MOST_TRIES = 10;

async function send(
  bench: Bench,
  user: Account,
  { style, speaks, how }: Case,
  tag: string,
): Promise<Received> {
  const client = CLIENTS[style];
  const foreign = speaks === "responses" ? FOREIGN : {};
  const ask = () =>
    bench.call(
      user.key,
      "POST",
      client.path,
      { ...bodyOf(client, how, tag), ...foreign },
      {
        headers: { "x-arbor-cost": "stream", "anthropic-version": "2023-06-01" },
        signal: AbortSignal.timeout(ANSWER_MS),
      },
    );
  let answer = await ask();
  for (let tries = 1; tries < DOOR_MOST_TRIES && isDoor(answer); tries++) {
    await Bun.sleep(1_000);
    answer = await ask();
  }
  const { status, headers, text } = answer;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  return {
    status,
    headers,
    text,
    body: isStream ? undefined : jsonOf(text),
    stream: isStream ? await client.readStream(text, headers) : null,
  };
}

/** Refused before any key was chosen. */
const isDoor = ({ status, body, headers }: { status: number; body: Json; headers: Headers }): boolean =>
  status === 503 && body?.error?.code === "service_unavailable" && !headers.has("x-arbor-model");

/** What a quote says when only the keys are in the way: money is looked at before them. */
const BEFORE_KEYS = [undefined, "no_available_key", "upstream_rate_limited", "model_not_found"];

/** A request that may cost more than the balance is admitted only where nothing else is held: so says a quote for it. */
export async function isFree(
  bench: Pick<Bench, "call">,
  user: Account,
  style: ClientStyle,
): Promise<boolean> {
  const { path, body } = CLIENTS[style];
  const limit = style === "responses" ? "max_output_tokens" : "max_tokens";
  const asked = { path, body: { ...body("quote"), [limit]: 1_000_000_000 } };
  const quote = await bench.call(user.key, "POST", "/v1/quote", asked);
  return quote.body?.object === "quote" && BEFORE_KEYS.includes(quote.body.refusal?.code);
}

const isReleased = (bench: Bench, user: Account, { style }: Case): Promise<boolean> =>
  until("nothing is held", () => isFree(bench, user, style), RELEASED_MS).then(
    () => true,
    () => false,
  );
