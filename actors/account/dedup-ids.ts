// Dedup ids: the permanent ids under which events are found in the ledger, and the one that a command would
// write. A command with a dedup id takes effect once, however often and however late it is repeated.

import type { AccountCommand } from "./commands.ts";
import { idempotencyDedupId } from "./idempotency.ts";
import type { AccountEvent } from "./state.ts";

type ChargeEvent = Extract<AccountEvent, { readonly type: "charge" | "late_charge" }>;

/** Returns the dedup ids under which the ledger indexes an event; empty if it has none. */
export function dedupIdsOf(event: AccountEvent): readonly string[] {
  switch (event.type) {
    case "charge":
    case "late_charge":
      return chargeDedupIds(event);
    case "released":
      return [`${event.id}:released`];
    case "minted":
    case "transfer_out":
    case "transfer_in":
    case "auto_quota":
    case "refund":
    case "refund_out":
    case "grant":
    case "query_fee":
    case "adjust":
    case "child_joined":
    case "child_left":
    case "moving":
    case "emptied":
    case "closing":
    case "api_key_added":
      return [event.id];
    default:
      return [];
  }
}

function chargeDedupIds({ id, request, idempotency, account }: ChargeEvent): string[] {
  const ids = [id];
  if (request !== id) ids.push(`request:${request}`);
  if (idempotency && account) ids.push(idempotencyDedupId(account, idempotency.key));
  return ids;
}

/** Returns the dedup id that a command would write, or undefined if it has none. */
export function dedupId(command: AccountCommand): string | undefined {
  switch (command.type) {
    case "charge":
    case "createChild":
    case "startTransfer":
    case "startRefund":
    case "fee":
    case "adjust":
    case "move":
    case "addChild":
    case "removeChild":
    case "settleClosing":
    case "addApiKey":
      return command.id;
    case "receiveCredit":
      return command.transfer.id;
    case "cancel":
      return `${command.id}:released`;
    default:
      return undefined;
  }
}
