// How an account stands now: its limits with what counts against them, those of its models included, and what would refuse any
// request of it. The account says what counts and refuses; which limits its models have is found as routing
// finds it. It takes no hold and sends nothing.

import type { LimitRow } from "../../../actors/account/rate-limits.ts";
import { actorRef, type Protocol } from "../../../actors/index.ts";
import type { RateLimits } from "../../../actors/rate-window.ts";
import type { Refusal } from "../../base/errors.ts";
import type { ActorSystem } from "../../runtime/system.ts";
import type { AccountContext } from "../account/account-context.ts";
import type { ConfigCache } from "../account/config-cache.ts";
import type { Caller } from "../account/identify.ts";
import { limitsFor } from "../routing/route.ts";

/** A limit that is set; `model` is null for one of the account. */
export interface LiveLimit extends LimitRow {
  readonly model: string | null;
}

/** How an account stands. */
export interface AccountStanding {
  /** Wall-clock ms. */
  readonly at: number;
  readonly limits: readonly LiveLimit[];
  /** What would refuse any request now; null when nothing would. */
  readonly refusal: Refusal | null;
}

/** Models that are shown, those in use before those that only have limits. */
const MODELS_MAX = 200;

/** Returns how the account of a key stands. Throws `RefusedError` when it does not exist. */
export async function accountStanding(
  parts: { readonly system: ActorSystem<Protocol>; readonly configs: ConfigCache },
  { account, keyHash }: Caller,
): Promise<AccountStanding> {
  const accountContext = await parts.configs.accountContext(account);
  const threshold = accountContext.config.config.userApiBalance;
  const found = await parts.system.ask(actorRef.account(account), "standing", { keyHash, threshold });
  const used = new Map(found.models.map(({ model, rows }) => [model, rows]));
  const models = new Set([...used.keys(), ...namedModels(accountContext)]);
  const ofModels = [...models]
    .slice(0, MODELS_MAX)
    .flatMap((model) => limitsOf(accountContext, model, used.get(model) ?? []));
  const ofAccount = found.limits.map((row): LiveLimit => ({ ...row, model: null }));
  return { at: found.at, refusal: found.refusal, limits: [...ofAccount, ...ofModels] };
}

/** Returns the models that have limits of their own, not by a pattern, in order of their names. */
function namedModels({ maps, config }: AccountContext): string[] {
  const names = [...Object.keys(maps.modelLimits.all()), ...Object.keys(config.config.modelLimits)];
  return names.filter((name) => !name.includes("*")).sort();
}

/** Returns the limits of a model, with what counts of it. */
function limitsOf(
  { maps, config }: AccountContext,
  model: string,
  rows: readonly LimitRow[],
): readonly LiveLimit[] {
  const limits = limitsFor(model, maps.modelLimits, config.config.modelLimits);
  if (limits === null) return [];
  return NAMES.filter((name) => limits[name] > 0).map((name) => {
    const row = rows.find((one) => one.name === name);
    const [limit, used] = [limits[name], row?.used ?? 0];
    const remaining = Math.max(0, limit - used);
    const resetsAt = row?.resetsAt ?? null;
    return { scope: "model", name, model, limit, used, remaining, resetsAt, unit: "count" };
  });
}

const NAMES = ["rpm", "tpm", "rph", "tph", "rpd", "tpd"] as const satisfies readonly (keyof RateLimits)[];
