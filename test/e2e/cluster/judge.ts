// The judge: compares the answers that clients received with the ledger, the provider and in the nodes' own counters,
// after the faults are over. It answers a list of what is wrong, empty when nothing is, and the figures of the scenario.

import { charged, charges, type Json, nano, until } from "../harness.ts";
import type { Attempt } from "./attempt.ts";
import type { Cluster } from "./cluster.ts";
import type { Load, User } from "./load.ts";

export interface Trial {
  readonly cluster: Cluster;
  readonly load: Load;
  /** Whether all was answered again, after how long, and when it was so for certain; null: there was no fault. */
  readonly recovery: { readonly isSo: boolean; readonly tookMs: number; readonly at: number } | null;
  /** Requests that were under way when an owner died or froze: so many its limits may have forgotten. */
  readonly forgiven: (account: { readonly id: number }) => number;
  /** Counters of health that the fault may raise. */
  readonly raises: readonly string[];
  /** What `healthOf` returned before. */
  readonly before: Health;
}

/** Counters that are zero in health, by node. */
export type Health = ReadonlyMap<string, Readonly<Record<string, number>>>;

export interface Judgement {
  readonly wrong: readonly string[];
  /** How long after the fault requests were not answered; null without a fault. It is reported, and not judged. */
  readonly recoveredMs: number | null;
  readonly answered: number;
  /** Attempts without an answer. */
  readonly failed: number;
  /** Counters of health that rose. */
  readonly raised: Readonly<Record<string, number>>;
}

/** A bound of waiting: how soon a cluster recovers by its own clock is what the simulator judges. */
export const RECOVERY_MS = 60_000;
/** Charges that waited in a spool, and snapshots, have so long after the load. */
const AT_REST_MS = 45_000;
/** A request that waits so long beyond what an answer takes may yet be refused. */
const WAITS_MS = 4_000;
/** The most problems of one kind that are reported. */
const SHOWN_MAX = 20;
/** Dearer than any request of the load. */
const MOST_NANO = 1_000_000;
/** Statuses that a client may get while something is broken; 0 is no answer, 200 half an answer. */
const FAILURES = new Set([0, 200, 502, 503, 504]);

const isRefused = (one: Attempt): boolean => one.code === "rpm_exceeded";
const isExpired = (one: Attempt): boolean => one.code === "idempotency_expired";
export const hasFailed = (one: Attempt): boolean => !one.complete && !isRefused(one) && !isExpired(one);

/**
 * When the last request was refused, of those that began after `from`; one that got no answer at all counts from its
 * beginning, since its client decides when it gives up.
 */
export const troubledUntil = (attempts: readonly Attempt[], from: number): number =>
  attempts
    .filter((one) => one.startedAt >= from && isOver(one) && hasFailed(one))
    .map(({ status, startedAt, endedAt }) => (status === 0 ? startedAt : endedAt))
    .reduce((last, one) => Math.max(last, one), from);

/** Since then nothing went wrong, nobody waits, and every account was served. */
export function isCalmSince({ attempts, users }: Load, last: number): boolean {
  const now = performance.now();
  const since = attempts.filter(({ startedAt }) => startedAt > last);
  const served = new Set(since.filter(({ complete }) => complete).map(({ user }) => user.id));
  const waits = attempts.some((one) => !isOver(one) && now - one.startedAt > one.takesMs + WAITS_MS);
  return !waits && users.every(({ id }) => served.has(id));
}

const isOver = (one: Attempt): boolean => one.endedAt !== Number.POSITIVE_INFINITY;

/** The load has ended and every node runs again. */
export async function judge(trial: Trial): Promise<Judgement> {
  const { cluster, load, recovery } = trial;
  const { attempts } = load;
  const failed = attempts.filter(hasFailed);
  const wrong = [...load.troubles, ...cluster.nodes.flatMap((node) => node.alarms())];
  const again = failed.filter(({ startedAt, slowStore }) => startedAt > (recovery?.at ?? 0) && !slowStore);
  if (again.length > 0)
    wrong.push(
      `${again.length} requests failed without a fault:`,
      ...again.slice(0, SHOWN_MAX).map(describeAttempt),
    );
  if (recovery?.isSo === false)
    wrong.push(
      `not all was answered again within ${seconds(RECOVERY_MS)}:`,
      ...failed.slice(-SHOWN_MAX).map(describeAttempt),
    );
  for (const one of failed)
    if (!FAILURES.has(one.status) || one.code === "internal_error") wrong.push(describeAttempt(one));

  let books: string[] = [];
  const agree = async () => {
    books = await comparedBooks(trial);
    return books.length === 0;
  };
  await until("the books agree", agree, AT_REST_MS).catch(() => wrong.push(...books));
  wrong.push(...limits(trial));
  const { findings } = await cluster.verified();
  for (const { rule, where, what } of findings) wrong.push(`verify: ${rule}: ${where}: ${what}`);
  const raised = rise(trial.before, await healthOf(cluster));
  for (const [name, count] of Object.entries(raised))
    if (!trial.raises.includes(name))
      wrong.push(`the counter ${name} rose by ${count}, and nothing explains it`);
  return {
    wrong,
    recoveredMs: recovery?.tookMs ?? null,
    answered: attempts.filter(({ complete }) => complete).length,
    failed: failed.length,
    raised,
  };
}

const describeAttempt = ({ id, intent, kind, user, status, code, to, startedAt, endedAt }: Attempt): string =>
  `at ${seconds(startedAt)} ${id} (${kind}, ${intent}, account ${user.id}, ${to}): ${status} ${code} after ${seconds(endedAt - startedAt)}`;

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

export async function healthOf(cluster: Cluster): Promise<Health> {
  const seen = await cluster.overview();
  return new Map((seen?.nodes ?? []).map((node: Json) => [node.name, node.health ?? {}]));
}

/** Counters begin anew with each process. */
function rise(before: Health, after: Health): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [node, counters] of after)
    for (const [name, count] of Object.entries(counters)) {
      const was = before.get(node)?.[name] ?? 0;
      const more = count >= was ? count - was : count;
      if (more > 0) sums[name] = (sums[name] ?? 0) + more;
    }
  return sums;
}

/** Compares every ledger with the answers. */
async function comparedBooks({ cluster, load }: Trial): Promise<string[]> {
  const wrong: string[] = [];
  const byUser = Map.groupBy(load.attempts, ({ user }) => user.id);
  for (const account of [...load.users, ...load.limited]) {
    const lines = await cluster.ledger(account.key);
    const balance = await cluster.balance(account.key);
    const attempts = byUser.get(account.id) ?? [];
    wrong.push(...comparedCharges(attempts, charges(lines)).map((line) => `${account.name}: ${line}`));
    const booked = lines.reduce((sum, line) => sum + nano(line.amount), 0);
    if (nano(balance) !== booked)
      wrong.push(`${account.name}: its lines sum up to ${booked}, its balance is ${nano(balance)}`);
    if ("parent" in account) {
      const moved = booked + charged(lines);
      const expected = creditOf(account as User, load);
      if (moved !== expected)
        wrong.push(`${account.name}: ${moved} was moved to it, answered was ${expected}`);
    }
  }
  return wrong;
}

function creditOf(user: User, { users, movements }: Load): number {
  const given = (account: User): number =>
    movements
      .filter((one) => one.account === account && one.status === 200)
      .reduce((sum, { amount }) => sum + nano(amount), nano(account.credit));
  return users
    .filter(({ parent }) => parent === user)
    .reduce((sum, child) => sum - given(child), given(user));
}

/** What was answered is booked once at its price; what was refused is not booked; a broken answer may be. */
export function comparedCharges(attempts: readonly Attempt[], lines: readonly Json[]): string[] {
  const wrong: string[] = [];
  const known = new Set(attempts.map(({ id }) => id));
  const booked = Map.groupBy(lines, (line) => line.request_id as string);
  for (const [id, twins] of booked) {
    if (!known.has(id)) wrong.push(`${id} is booked, and nobody asked for it`);
    if (twins.length > 1) wrong.push(`${id} is booked ${twins.length} times`);
  }
  for (const tries of Map.groupBy(attempts, ({ intent }) => intent).values()) {
    const charge = tries.flatMap(({ id }) => booked.get(id) ?? []);
    const isAnswered = tries.some((one) => one.complete || isExpired(one));
    const { intent } = tries[0]!;
    if (isAnswered && charge.length !== 1)
      wrong.push(`${intent} was answered, and is booked ${charge.length} times`);
    if (charge.length > 1) wrong.push(`${intent} is booked ${charge.length} times`);
    for (const one of tries) {
      const own = booked.get(one.id)?.[0];
      if (one.complete && one.cost !== null && charge[0] && nano(-charge[0].amount) !== nano(one.cost))
        wrong.push(`${one.id} was told ${one.cost}, booked is ${charge[0].amount}`);
      if (own === undefined) continue;
      if (!one.complete && one.status !== 200 && isOurs(one))
        wrong.push(`booked is what ${describeAttempt(one)}`);
      if (nano(-own.amount) > MOST_NANO) wrong.push(`${one.id} is booked at ${own.amount}`);
    }
  }
  return wrong;
}

/** A refusal of a node's own, which says that nothing was done; the balancer's says that it does not know. */
const isOurs = ({ status, code }: Attempt): boolean => status > 0 && /^[a-z_]+$/.test(code);

/** Returns a problem for each account that got more than its limit, as the provider counted it. */
function limits({ cluster, load, forgiven }: Trial): string[] {
  const wrong: string[] = [];
  const calls = cluster.provider.calls().map(({ body }) => JSON.stringify(body));
  for (const account of load.limited) {
    const came = calls.filter((body) => body.includes(`This is ${account.name} who`)).length;
    const most = account.rpm * load.minutes() + forgiven(account);
    if (came > most)
      wrong.push(
        `${account.name} may ask ${account.rpm} times a minute (${most} in all), and did so ${came} times`,
      );
  }
  return wrong;
}
