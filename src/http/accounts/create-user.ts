// POST /x-users: a subaccount of the caller. What depends on the parent (its money, UserLimit, Rates, Resources) is decided
// by the parent itself; here only what the request says is read.

import type { Static } from "@sinclair/typebox";
import { isRoot } from "../../../actors/account/state.ts";
import { composed } from "../../../actors/account-name.ts";
import { toUsd } from "../../../actors/money.ts";
import { applyEdits } from "../../../actors/owner/map-edits.ts";
import type { Creation } from "../../admin/create-account.ts";
import { RefusedError } from "../../base/errors.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementCaller } from "../management.ts";
import { lowerLimits, NewUser } from "../shapes.ts";
import { unfitName } from "../text-rules.ts";
import { checkedMap, readAddresses, readModelLimits, readModels, readPaths, wrong } from "./user-lists.ts";
import { DEFAULT_DAYS, minimumBalance, nano, type UsersParts } from "./users.ts";

/** spec: POST /x-users. */
export const postUsers = (parts: UsersParts) =>
  endpoint(parts, { who: "any", body: NewUser, action: "add_user" }, async (input) => {
    const { caller, body, journal, command } = input;
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
    journal.about({ type: "user", id: profile.id, dna: profile.dna });
    journal.changed({ ...body, CreditGranted: toUsd(amount) });
    return answer({
      Action: "add",
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
    });
  });

/** Whom Root creates is an Owner, and nobody else is: the field can only say what is so anyway. */
function checkOwnership(caller: ManagementCaller, isOwner: boolean | undefined): void {
  if (isOwner === undefined || (isOwner && isRoot(caller.profile))) return;
  throw new RefusedError({
    code: "field_not_settable",
    message:
      '"isOwner" may be set by Root only, and only to true: whom Root creates is an Owner, nobody else is.',
  });
}

function accountOf(body: Static<typeof NewUser>): Creation["account"] {
  const name = composed(body.Name);
  const unfit = unfitName(name);
  if (unfit !== null) wrong("Name", unfit);
  return {
    name,
    email: body.Email,
    limits: lowerLimits(body),
    ...given(body.Alias, (alias) => ({ alias: alias.toWellFormed() })),
    ...given(body.BillingEmail, (billingEmail) => ({ billingEmail })),
    ...given(body.Rates, (rates) => ({ rates })),
    ...given(body.HardLimit, (usd) => ({ hardLimit: nano(usd, "HardLimit") })),
    ...given(body.SoftLimit, (usd) => ({ softLimit: nano(usd, "SoftLimit") })),
    ...given(body.AutoQuota, (usd) => ({ autoQuota: nano(usd, "AutoQuota") })),
    ...given(body.AllowIPs, (text) => ({ allowIps: readAddresses(text) })),
    ...given(body.AllowModels, (text) => ({ allowModels: readModels(text, []) })),
    ...given(body.Resources, (text) => ({ resources: readPaths(text) })),
    ...given(body.ModelLimits, (limits) => ({ modelLimits: newLimits(limits) })),
  };
}

const newLimits = (limits: Parameters<typeof readModelLimits>[0]) =>
  checkedMap("ModelLimits", applyEdits({}, readModelLimits(limits)));

/** What a field that is there says. */
const given = <V, T extends object>(value: V | undefined, said: (value: V) => T): T | undefined =>
  value === undefined ? undefined : said(value);
