// What the endpoints of accounts need, and what creation and change share: credit and its bounds. The endpoints are declared in
// accounts.ts.

import { isRoot, type Profile } from "../../../actors/account/state.ts";
import { fromUsd, type Nano, ZERO } from "../../../actors/money.ts";
import type { Created, Creation } from "../../admin/create-account.ts";
import type { ConfigCache } from "../../gateway/account/config-cache.ts";
import type { Store } from "../../store/store.ts";
import type { ManagementParts } from "../management.ts";
import type { WriteLocks } from "../write-lock.ts";
import { refuseField } from "./user-lists.ts";

/** What the endpoints of accounts need. */
export interface UsersParts extends ManagementParts {
  readonly store: Store;
  readonly configs: ConfigCache;
  readonly locks: WriteLocks;
  readonly createAccount: (creation: Creation) => Promise<Created>;
}

/** Days that credit is valid unless a request has `Days`. Source: specification, "Limits". */
export const DEFAULT_DAYS = 180;

/**
 * Converts US dollars of a field to nano-dollars. Throws `invalid_parameter`, also for an amount that rounds to 0: as a limit it
 * would be none.
 */
export function nano(usd: number, field: string): Nano {
  const amount = fromUsd(usd) ?? refuseField(field, "must be a finite amount of US dollars");
  if (amount === 0 && usd !== 0) refuseField(field, "must be 0, or at least 0.000000001 US dollars");
  return amount;
}

/** Returns what an account must keep when it gives credit: its Owner's UserMinBalance, and nothing for Root, which mints it. */
export async function minimumBalance(
  { configs }: Pick<UsersParts, "configs">,
  giver: Profile,
): Promise<Nano> {
  if (isRoot(giver)) return ZERO;
  const { config } = await configs.accountContext(giver.id);
  return config.config.userMinBalance;
}
