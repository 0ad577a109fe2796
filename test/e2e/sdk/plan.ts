// The table multiplied: each scenario with each of its clients on each of its routes, an account for each. Prepares, performs
// and says what was left behind; asserts nothing.

import { type Bench, MODEL, until } from "../harness.ts";
import { billOf, type Customer, callsWith, customerOf } from "./customers.ts";
import type { Left, Route, Row } from "./rows.ts";
import { type Asked, type Client, inTurns, type Seen } from "./script.ts";
import { type Arranged, arrange, TROUBLES, type Trouble } from "./troubles.ts";

interface Place {
  readonly client: Client;
  readonly route: Route;
}

interface Run extends Place {
  asked?: Asked;
  seen?: Seen;
}

export interface Planned extends Run {
  readonly row: Row;
  customer?: Customer;
}

export interface PlannedTrouble extends Run {
  readonly trouble: Trouble;
  readonly scenario: string;
  arranged?: Arranged;
}

/** Little enough is left of a minute that an SDK waits for it. */
const SPENT_MS_AGO = 57_000;
/** The store commits together what comes together. */
const PREPARED_AT_ONCE = 32;

const ROUTES: readonly Route[] = ["same", "translated"];

/** The style of the provider's key. */
const keyStyleOf = ({ client: { style }, route }: Place) =>
  route === "same" ? style : style === "chat" ? "messages" : "chat";

/** The scenarios of a client. */
export const planOf = (client: Client, rows: readonly Row[]): Planned[] =>
  rows
    .filter(({ clients }) => clients.includes(client.name))
    .flatMap((row) => (row.routes ?? ROUTES).map((route) => ({ client, route, row })));

/** Who is put through how much of what can go wrong. In Python the two modes are two clients already. */
function troubleRoutes({ name }: Client): readonly (readonly [Route, string, (one: Trouble) => boolean])[] {
  if (name === "fetch") return [];
  const all = () => true;
  const common = (one: Trouble) => one.common === true;
  if (name === "openai" || name === "anthropic")
    return [
      ["same", "trouble", all],
      ["same", "trouble_streamed", all],
      ["translated", "trouble", all],
    ];
  return [
    ["same", "trouble", name.includes("Python") ? all : common],
    ["translated", "trouble", common],
  ];
}

/** All that can go wrong for the makers' SDKs, and what everybody meets for the others. */
export const troublesOf = (client: Client): PlannedTrouble[] =>
  troubleRoutes(client).flatMap(([route, scenario, meets]) =>
    TROUBLES.filter(meets).map((trouble) => ({ client, route, trouble, scenario })),
  );

/** Makes the accounts, and lets all clients at them at the same time. */
export async function carryOut(
  bench: Bench,
  plan: readonly Planned[],
  troubles: readonly PlannedTrouble[],
): Promise<void> {
  const spent = plan.filter(({ row }) => row.spent);
  const others = plan.filter(({ row }) => !row.spent);
  await inTurns(spent, PREPARED_AT_ONCE, (one) => prepare(bench, one));
  bench.moveClock(SPENT_MS_AGO);
  // Some wait for the end of the minute, others are refused because it is too long: at once, for the clock goes on.
  const waiting = perform(bench, spent);
  await inTurns(others, PREPARED_AT_ONCE, (one) => prepare(bench, one));
  await inTurns(troubles, PREPARED_AT_ONCE, (one) => prepareTrouble(bench, one));
  await perform(bench, [...others, ...troubles]);
  await waiting;
}

/** All clients at the same time. */
async function perform(bench: Bench, all: readonly Run[]): Promise<void> {
  const work = [...Map.groupBy(all, ({ client }) => client.perform)].map(async ([perform, runs]) => {
    const asked = runs.map(({ asked }) => asked!);
    const seen = await perform(bench.url, asked);
    for (const [i, run] of runs.entries()) run.seen = seen[i]!;
  });
  await Promise.all(work);
}

async function prepare(bench: Bench, one: Planned): Promise<void> {
  const { scenario, account, behaves, model = MODEL, said = null, spent } = one.row;
  const customer = await customerOf(bench, keyStyleOf(one), account);
  one.customer = customer;
  if (behaves !== undefined) bench.provider.behave(customer.secret, behaves, 1);
  if (spent) await spend(bench, one, customer);
  one.asked = { scenario, mode: one.client.mode, key: customer.user.key, model, said };
}

async function spend(bench: Bench, { client: { style } }: Planned, { user }: Customer): Promise<void> {
  const path = style === "chat" ? "/v1/chat/completions" : "/v1/messages";
  const body = { model: MODEL, max_tokens: 5, messages: [{ role: "user", content: "hi [[output=1]]" }] };
  const { status, text } = await bench.call(user.key, "POST", path, body);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
}

async function prepareTrouble(bench: Bench, one: PlannedTrouble): Promise<void> {
  const arranged = await arrange(bench, one.client.style, one.trouble, keyStyleOf(one));
  one.arranged = arranged;
  const { key, model, said } = arranged;
  one.asked = { scenario: one.scenario, mode: one.client.mode, key, model, said };
}

/** What a run left behind, once the provider is done and a late charge is there. */
export async function leftBy(bench: Bench, one: Planned): Promise<Left> {
  const { client, route, row, customer } = one;
  const { user, secret } = customer!;
  const calls = () => callsWith(bench, secret);
  await until("the provider is done", () => calls().every((call) => call.outcome !== null));
  if (row.chargedLater)
    await until("it is charged", async () => (await billOf(bench, user)).lines.length > 0);
  const { seen } = one.seen!;
  return { client, route, style: client.style, seen, calls: calls(), ...(await billOf(bench, user)) };
}
