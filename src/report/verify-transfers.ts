// Credit between accounts: what one says it gave, the other says it got, once and to the last nano-dollar.
// What is given and not yet got is in flight. The other side is found by the transfer's mark.

import type { AccountEvent, Transfer } from "../../actors/account/state.ts";
import type { AccountId } from "../../actors/ids.ts";
import { to } from "../../actors/index.ts";
import { actorName } from "../runtime/actor.ts";
import type { Audit } from "../store/audit.ts";
import type { Told } from "./verify-book.ts";
import type { Findings } from "./verify-findings.ts";

/** More than two commits carry the mark of a transfer only when something is wrong. */
const HOLDERS_MOST = 10;

/** Holds what an account says against the other side's ledger. */
export async function verifyTold(
  audit: Audit,
  account: number,
  { kind, id, other, amount }: Told,
  { findings, where }: { findings: Findings; where: string },
): Promise<void> {
  const wrong = (what: string) => findings.add("transfer", where, what);
  if (kind === "received") {
    const given = (await owed(audit, id)).filter((one) => one.transfer.to === account);
    const from = other === 0 ? "anybody" : `account/${other}`;
    if (!given.some((one) => one.transfer.amount === amount && (other === 0 || one.from === nameOf(other)))) {
      wrong(`${id}: got ${amount}, which ${from} never gave`);
    }
    const got = await received(audit, id, account);
    if (got.length > 1) wrong(`${id}: got ${got.length} times`);
    return;
  }
  const got = await received(audit, id, other);
  if (kind === "returned" && got.length > 0) wrong(`${id}: came back, though account/${other} got it`);
  if (kind === "settled" && !got.includes(amount)) {
    wrong(`${id}: account/${other} got ${got.length === 0 ? "nothing" : got.join(" and ")} of ${amount}`);
  }
}

/** What of an account's open transfers has not reached anybody. */
export async function inFlight(audit: Audit, owing: ReadonlyMap<string, Transfer>): Promise<bigint> {
  let sum = 0n;
  for (const { id, to: receiver, amount } of owing.values()) {
    if ((await received(audit, id, receiver)).length === 0) sum += BigInt(amount);
  }
  return sum;
}

/** The amounts under which an account has a transfer: one, or none yet. */
async function received(audit: Audit, id: string, account: number): Promise<number[]> {
  const name = nameOf(account);
  return (await marked(audit, id))
    .filter(({ actor }) => actor === name)
    .flatMap(({ events }) => events.flatMap((event) => receipt(event, id)));
}

function receipt(event: AccountEvent, id: string): number[] {
  switch (event.type) {
    case "grant":
    case "transfer_in":
    case "auto_quota":
    case "refund":
      return event.id === id ? [event.amount] : [];
    case "minted":
      return event.id === id && event.amount < 0 ? [-event.amount] : [];
    default:
      return [];
  }
}

async function owed(audit: Audit, id: string): Promise<{ from: string; transfer: Transfer }[]> {
  return (await marked(audit, id)).flatMap(({ actor, events }) =>
    events.flatMap((e) =>
      e.type === "owing" && e.transfer.id === id ? [{ from: actor, transfer: e.transfer }] : [],
    ),
  );
}

async function marked(audit: Audit, mark: string): Promise<{ actor: string; events: AccountEvent[] }[]> {
  const commits = [];
  for (const { actor, seq } of await audit.holders(mark, HOLDERS_MOST)) {
    const [commit] = await audit.tail(actor, seq - 1, 1);
    if (commit?.seq === seq) commits.push({ actor, events: commit.events.map(({ e }) => e as AccountEvent) });
  }
  return commits;
}

const nameOf = (account: number): string => actorName(to.account(account as AccountId));
