// What a route is made from, as the configs would put it together: profiles, a configuration, what Root lays on them.

import type { Profile } from "../../actors/account/state.ts";
import { ancestorsOf, ownerOf } from "../../actors/ids.ts";
import { DEFAULT_CONFIG, type OwnerConfig } from "../../actors/owner/config.ts";
import { priceTable } from "../../actors/pricing/price-table.ts";
import type { AccountContext, ProfileCopy } from "../../src/gateway/account/account-context.ts";
import { effectiveMaps } from "../../src/gateway/account/effective-maps.ts";
import { profileOf } from "../actors/account-samples.ts";

interface Given {
  /** The account, then its ancestors up to the Owner. */
  readonly chain?: readonly Partial<Profile>[];
  readonly config?: Partial<OwnerConfig>;
  /** What Root's configuration has besides. */
  readonly root?: Partial<OwnerConfig>;
  /** The version of the account's profile. */
  readonly version?: number;
}

export function accountContextOf({
  chain = [{}],
  config = {},
  root = {},
  version = 1,
}: Given = {}): AccountContext {
  const copies = chain.map((over): ProfileCopy => {
    const profile = profileOf(over);
    return { profile, version, closing: false, above: ancestorsOf(profile.dna), owner: ownerOf(profile) };
  });
  const account = copies[0]!;
  const full = { ...DEFAULT_CONFIG, ...config };
  const fullRoot = { ...DEFAULT_CONFIG, ...root };
  return {
    account,
    ancestors: copies.slice(1),
    config: { config: full, prices: priceTable(full.pricing) },
    root: fullRoot,
    maps: effectiveMaps(account.profile, { owner: full, root: fullRoot }),
    scope: { level: account.profile.level, factor: account.profile.factor, rates: account.profile.rates },
  };
}
