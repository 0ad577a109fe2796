// Verifies credit transfers: what one account gave, the other received, once and to the exact nano-dollar.
// What is given and not yet received is in flight. The other side is found by the transfer's dedup id.

import type { AccountEvent, Transfer } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { actorName } from "../../runtime/actor.ts";
import type { AuditView } from "../../store/audit.ts";
import type { TransferRecord } from "./account-book.ts";
import type { Findings } from "./findings.ts";

/** Commits to read per dedup id; a sound ledger has at most two for a transfer. */
const HOLDERS_MAX = 10;

/** Compares what an account says about a transfer with the other side's ledger, and reports findings. */
export async function verifyTransfer(
  audit: AuditView,
  account: number,
  { kind, id, other, amount }: TransferRecord,
  { findings, where }: { findings: Findings; where: string },
): Promise<void> {
  const wrong = (what: string) => findings.add("transfer", where, what);
  const commits = await marked(audit, id);
  if (kind === "received") {
    const given = owed(commits, id).filter((one) => one.transfer.to === account);
    const from = other === 0 ? "anybody" : `account/${other}`;
    if (!given.some((one) => one.transfer.amount === amount && (other === 0 || one.from === nameOf(other)))) {
      wrong(`${id}: got ${amount}, which ${from} never gave`);
    }
    const got = received(commits, id, account);
    if (got.length > 1) wrong(`${id}: got ${got.length} times`);
    return;
  }
  const got = received(commits, id, other);
  if (kind === "returned" && got.length > 0) wrong(`${id}: came back, though account/${other} got it`);
  if (kind === "settled" && !got.includes(amount)) {
    wrong(`${id}: account/${other} got ${got.length === 0 ? "nothing" : got.join(" and ")} of ${amount}`);
  }
}

/** Returns the sum, in nano-dollars, of an account's open transfers that no receiver has yet. */
export async function inFlight(audit: AuditView, owing: ReadonlyMap<string, Transfer>): Promise<bigint> {
  let sum = 0n;
  for (const { id, to: receiver, amount } of owing.values()) {
    if (received(await marked(audit, id), id, receiver).length === 0) sum += BigInt(amount);
  }
  return sum;
}

/** Returns the amounts that an account received for a transfer: one, or none yet, in a sound ledger. */
function received(commits: readonly Marked[], id: string, account: number): number[] {
  const name = nameOf(account);
  return commits
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

const owed = (commits: readonly Marked[], id: string): { from: string; transfer: Transfer }[] =>
  commits.flatMap(({ actor, events }) =>
    events.flatMap((e) =>
      e.type === "owing" && e.transfer.id === id ? [{ from: actor, transfer: e.transfer }] : [],
    ),
  );

interface Marked {
  readonly actor: string;
  readonly events: readonly AccountEvent[];
}

async function marked(audit: AuditView, mark: string): Promise<readonly Marked[]> {
  const commits = await audit.marked(mark, HOLDERS_MAX);
  return commits.map(({ actor, events }) => ({ actor, events: events.map(({ e }) => e as AccountEvent) }));
}

const nameOf = (account: number): string => actorName(actorRef.account(account as AccountId));
