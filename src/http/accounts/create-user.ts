// POST /x-users: a subaccount of the caller. What depends on the parent (its money, UserLimit, Rates, Resources) is decided
// by the parent itself; this file reads only the request.

import { isRoot } from "../../../actors/account/state.ts";
import { composed } from "../../../actors/account-name.ts";
import { toUsd } from "../../../actors/money.ts";
import { applyEdits } from "../../../actors/owner/map-edits.ts";
import type { Creation } from "../../admin/create-account.ts";
import { RefusedError } from "../../base/errors.ts";
import type { ManagementCall, ManagementCaller } from "../management.ts";
import { unfitName } from "../text-rules.ts";
import { lowerLimits } from "./account-shape.ts";
import type { NewUser } from "./schemas.ts";
import {
  checkedMap,
  readAddresses,
  readModelLimits,
  readModels,
  readPaths,
  refuseField,
} from "./user-lists.ts";
import { DEFAULT_DAYS, minimumBalance, nano, type UsersParts } from "./users.ts";

/** Creates a subaccount of the caller. Source: specification, `POST /x-users`. */
export async function createUser(
  parts: UsersParts,
  { caller, audit, command }: ManagementCall,
  body: NewUser,
) {
  checkOwnership(caller, body.isOwner);
  const account = accountOf(body);
  const amount = nano(body.CreditGranted, "CreditGranted");
  const { record, key } = await parts.createAccount({
    parent: caller.profile.id,
    account,
    amount,
    days: body.Days ?? DEFAULT_DAYS,
    keep: await minimumBalance(parts, caller.profile),
    command,
  });
  const { profile } = record;
  audit.setTarget({ type: "user", id: profile.id, dna: profile.dna });
  audit.addChanges({ ...body, CreditGranted: toUsd(amount) });
  return {
    Action: "add" as const,
    User: {
      ID: profile.id,
      SecretKey: key,
      Updates: {
        Name: profile.name,
        Email: profile.email,
        CreditGranted: toUsd(amount),
        Balance: toUsd(record.balance),
        HardLimit: toUsd(profile.hardLimit),
        SoftLimit: toUsd(profile.softLimit),
        Status: profile.status,
        Level: profile.level,
        DNA: profile.dna,
      },
    },
  };
}

/** Refuses an `isOwner` that contradicts what follows from the caller: accounts that Root creates are Owners, others are not. */
function checkOwnership(caller: ManagementCaller, isOwner: boolean | undefined): void {
  if (isOwner === undefined || (isOwner && isRoot(caller.profile))) return;
  throw new RefusedError({
    code: "field_not_settable",
    message:
      '"isOwner" may be set by Root only, and only to true: whom Root creates is an Owner, nobody else is.',
  });
}

function accountOf(body: NewUser): Creation["account"] {
  const name = composed(body.Name);
  const unfit = unfitName(name);
  if (unfit !== null) refuseField("Name", unfit);
  return {
    name,
    email: body.Email,
    limits: lowerLimits(body),
    ...fromField(body.Alias, (alias) => ({ alias: alias.toWellFormed() })),
    ...fromField(body.BillingEmail, (billingEmail) => ({ billingEmail })),
    ...fromField(body.Rates, (rates) => ({ rates })),
    ...fromField(body.HardLimit, (usd) => ({ hardLimit: nano(usd, "HardLimit") })),
    ...fromField(body.SoftLimit, (usd) => ({ softLimit: nano(usd, "SoftLimit") })),
    ...fromField(body.AutoQuota, (usd) => ({ autoQuota: nano(usd, "AutoQuota") })),
    ...fromField(body.AllowIPs, (text) => ({ allowIps: readAddresses(text) })),
    ...fromField(body.AllowModels, (text) => ({ allowModels: readModels(text, []) })),
    ...fromField(body.Resources, (text) => ({ resources: readPaths(text) })),
    ...fromField(body.ModelLimits, (limits) => ({ modelLimits: newLimits(limits) })),
  };
}

const newLimits = (limits: Parameters<typeof readModelLimits>[0]) =>
  checkedMap("ModelLimits", applyEdits({}, readModelLimits(limits)));

/** Returns what a field contributes, or undefined where it is absent. */
const fromField = <V, T extends object>(
  value: V | undefined,
  contribution: (value: V) => T,
): T | undefined => (value === undefined ? undefined : contribution(value));
