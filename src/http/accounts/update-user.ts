// Changes an account. Everything is read and checked first, then done in an order in which only the first step can still be
// refused, so that one bad field changes nothing.
//
//   1  credit: from the direct parent, or made by Root; back to the parent    refused: nothing has changed
//      or a move, which is never together with credit                         refused: nothing has changed
//   2  the profile, made from the version that was read; after another change it is read and made again
//   3  figures that Root sets
//
// A change that edits a list or a map may be impossible after another edit of the same one, and must not be refused after step
// 1. Such changes of one account are made one after the other, on whichever nodes.
//
// crash         left behind              recovery
// after 1       credit or place moved    no answer left; a repeat with the same Idempotency-Key finds the transfer or the
//                                        move done, and does the rest

import { STALE_PROFILE } from "../../../actors/account/admit.ts";
import type { ApiKeyList } from "../../../actors/account/api-key-list.ts";
import { inheritanceRefusal } from "../../../actors/account/profile.ts";
import { isRoot, type Profile } from "../../../actors/account/state.ts";
import type { AccountRecord } from "../../../actors/account/views.ts";
import { type AccountId, ROOT } from "../../../actors/ids.ts";
import { actorRef } from "../../../actors/index.ts";
import { negate, toUsd } from "../../../actors/money.ts";
import { configurationsAbove } from "../../admin/ancestor-configurations.ts";
import { moveAccount } from "../../admin/move-account.ts";
import { recharge, refund } from "../../admin/transfer-credit.ts";
import { type Refusal, RefusedError } from "../../base/errors.ts";
import type { CommandId } from "../idempotency.ts";
import type { ManagementCall, ManagementCaller } from "../management.ts";
import { findAccount } from "./account-lookup.ts";
import { accountShape } from "./account-shape.ts";
import { type AccountField, unsettable } from "./permissions.ts";
import type { Change } from "./schemas.ts";
import { givenFields, isEdit, isShared, type ProfileBasis, profileChange } from "./user-fields.ts";
import { DEFAULT_DAYS, minimumBalance, nano, type UsersParts } from "./users.ts";

/** Changes an account. Returns the given fields as they now are. Source: specification, `PUT /x-users/{identifier}`. */
export async function updateUser(parts: UsersParts, call: ManagementCall, identifier: string, body: Change) {
  const fields = givenFields(body);
  if (fields.length === 0) {
    throw new RefusedError({ code: "missing_parameter", message: "Give at least one field to change." });
  }
  const { caller, audit } = call;
  const { record, relationship } = await findAccount(parts, caller, identifier, "update");
  const { id, dna } = record.profile;
  audit.setTarget({ type: "user", id, dna });
  const refused = unsettable(relationship, fields) ?? incomplete(body);
  if (refused !== null) throw new RefusedError(refused);
  if (!isEdit(body)) return await makeChange(parts, call, record, body);

  const lock = await parts.locks.wait(`user:${id}`, id, "edit", { busy: BEING_CHANGED });
  try {
    const found = await parts.system.ask(actorRef.account(id), "read", {});
    return await makeChange(parts, call, found, body);
  } finally {
    await lock.release();
  }
}

const BEING_CHANGED = "The lists of this account are being changed by others. Repeat the request.";

/** Makes a change that the caller may make of an account as it was found. */
async function makeChange(parts: UsersParts, call: ManagementCall, record: AccountRecord, body: Change) {
  const { caller, audit, command } = call;
  const { profile } = record;
  const fields = givenFields(body);
  await checkChange(parts, profile, body);
  const before = await shapeOf(parts, record);
  const order = { parts, call, caller, profile, body, command };
  await moveCredit(order);
  await moveBelow(order);
  await changeProfile(order);
  await adjust(order);

  const after = await parts.system.ask(actorRef.account(profile.id), "read", {});
  const updates = updatesShape(await shapeOf(parts, after), body, fields);
  audit.addChanges(updates, before);
  return { Action: "update" as const, User: { ID: profile.id, Name: profile.name, Updates: updates } };
}

/** Returns the refusal of a field that needs another, or must not be beside it; null when there is none. */
function incomplete({ CreditGranted, Days, DNA, ParentID }: Change): Refusal | null {
  if (Days !== undefined && CreditGranted === undefined) {
    return {
      code: "missing_parameter",
      message: '"Days" needs "CreditGranted", the credit that is valid so long.',
    };
  }
  if (DNA !== undefined && ParentID === undefined) {
    return {
      code: "invalid_parameter",
      message: '"DNA" follows "ParentID": set that, DNA alone moves nobody.',
    };
  }
  if (ParentID !== undefined && CreditGranted !== undefined) {
    const message =
      '"CreditGranted" goes between an account and its parent: first move it, then recharge or refund.';
    return { code: "invalid_parameter", message };
  }
  return null;
}

/** Throws for what could not be done after the first step. */
async function checkChange(parts: UsersParts, profile: Profile, body: Change): Promise<void> {
  const parent = (body.ParentID as AccountId | undefined) ?? profile.parent;
  const refused = await unfitBelow(parts, parent, profileChange(body, await basisOf(parts, profile, body)));
  if (refused !== null) throw new RefusedError(refused);
}

/** Reads the configurations above before the account's maps: a cascade in between is newer than the change. */
async function basisOf({ system }: UsersParts, profile: Profile, body: Change): Promise<ProfileBasis> {
  return { profile, above: isShared(body) ? await configurationsAbove(system, profile) : null };
}

/** Returns what the parent does not allow of a change, or null. */
async function unfitBelow(
  parts: UsersParts,
  parent: AccountId | null,
  change: ReturnType<typeof profileChange>,
) {
  if (parent === null || (change.rates === undefined && change.resources === undefined)) return null;
  const above = await parts.system.ask(actorRef.account(parent), "read", {});
  return inheritanceRefusal(above.profile, change);
}

interface Order {
  readonly parts: UsersParts;
  readonly call: ManagementCall;
  readonly caller: ManagementCaller;
  /** As it was found. */
  readonly profile: Profile;
  readonly body: Change;
  readonly command: CommandId;
}

async function moveCredit({ parts, caller, profile, body, command }: Order): Promise<void> {
  const amount = nano(body.CreditGranted ?? 0, "CreditGranted");
  if (amount === 0) return;
  try {
    if (amount < 0) return await refund(parts, { ...command, from: profile.id, amount: negate(amount) });
    const from = isRoot(caller.profile) ? ROOT : (profile.parent ?? ROOT);
    const { profile: giver } = await parts.system.ask(actorRef.account(from), "read", {});
    const days = body.Days ?? DEFAULT_DAYS;
    await recharge(parts, {
      ...command,
      from,
      to: profile.id,
      amount,
      days,
      keep: await minimumBalance(parts, giver),
    });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    throw new RefusedError({ ...error.refusal, message: `"CreditGranted": ${error.refusal.message}` });
  }
}

async function moveBelow({ parts, call, profile, body }: Order): Promise<void> {
  if (body.ParentID === undefined) return;
  const { caller, command } = call;
  const { id, bornAt } = command;
  const parent = body.ParentID as AccountId;
  const { ModelMapper: _, ModelLimits: __, ...alone } = body;
  const { rates, resources } = profileChange(alone, { profile, above: null });
  const brings = { ...(rates === undefined ? {} : { rates }), ...(resources && { resources }) };
  const order = { id: `${id}:move`, bornAt, account: profile.id, parent, dna: body.DNA ?? null, brings };
  const before = await parts.system.ask(actorRef.account(profile.id), "apiKeys", {});
  await moveAccount(parts, { ...order, by: caller.profile.id });
  await logDisabledKeys(parts, call, profile.id, before);
}

/** The move has disabled the keys of accounts that are not above this one any more; each has its line in the log. */
async function logDisabledKeys(
  { system, auditLog }: UsersParts,
  { caller, clientIp }: ManagementCall,
  account: AccountId,
  before: ApiKeyList,
): Promise<void> {
  const wasEnabled = new Set(before.keys.filter(({ status }) => status).map(({ id }) => id));
  if (wasEnabled.size === 0) return;
  const [{ keys }, { profile }] = await Promise.all([
    system.ask(actorRef.account(account), "apiKeys", {}),
    system.ask(actorRef.account(account), "read", {}),
  ]);
  for (const { id, name, createdBy, status } of keys) {
    if (status || !wasEnabled.has(id)) continue;
    await auditLog.write({
      ...{ action: "update_api_key", operator: caller.profile.id, ip: clientIp(), status: "success" },
      subject: { type: "api_key", id, account, dna: profile.dna },
      details: `name: ${JSON.stringify(name)}; status: true → false; the account was moved away from who made the key or saw its secret (made by ${createdBy})`,
    });
  }
}

/** Changes the profile as it now is, so that a concurrent change of other fields stays. */
async function changeProfile({ parts, caller, profile, body }: Order): Promise<void> {
  const account = actorRef.account(profile.id);
  for (;;) {
    const { profile: now, version } = await parts.system.ask(account, "read", {});
    const made = profileChange(body, await basisOf(parts, now, body));
    if (Object.keys(made).length === 0) return;
    const update = { change: made, parent: null, by: caller.profile.id, version };
    try {
      await parts.system.ask(account, "update", update);
      return;
    } catch (error) {
      if (!(error instanceof RefusedError) || error.refusal.code !== STALE_PROFILE) throw error;
    }
  }
}

/** Writes figures that Root sets as a ledger line of amount 0. */
async function adjust({ parts, caller, profile, body, command }: Order): Promise<void> {
  const { CreditUsed, ChargeAmount, XCredit } = body;
  const figures = {
    ...(CreditUsed === undefined ? {} : { creditUsed: nano(CreditUsed, "CreditUsed") }),
    ...(ChargeAmount === undefined ? {} : { chargeAmount: nano(ChargeAmount, "ChargeAmount") }),
    ...(XCredit === undefined ? {} : { xCredit: nano(XCredit, "XCredit") }),
  };
  if (Object.keys(figures).length === 0) return;
  const id = `${command.id}:adjust`;
  const input = { id, by: caller.profile.id, ...figures };
  await parts.system.ask(actorRef.account(profile.id), "adjust", input, { id, bornAt: command.bornAt });
}

const shapeOf = async ({ configs }: UsersParts, record: AccountRecord) =>
  accountShape(record, await configs.maps(record.profile));

/** What else changes with a field. */
const BESIDE: Partial<Record<AccountField, "Balance" | "DNA">> = {
  CreditGranted: "Balance",
  ParentID: "DNA",
};

/** Returns the credit that moved, rounded as the ledger has it. */
const moved = ({ CreditGranted = 0, Days }: Change) => ({
  CreditGranted: toUsd(nano(CreditGranted, "CreditGranted")),
  Days,
});

/** Returns the given fields as they now are; for credit the amount that moved, and the new balance. */
function updatesShape(
  shape: ReturnType<typeof accountShape>,
  body: Change,
  fields: readonly AccountField[],
): Record<string, unknown> {
  const updates: Record<string, unknown> = {};
  for (const field of fields) {
    const beside = BESIDE[field];
    updates[field] = field === "CreditGranted" || field === "Days" ? moved(body)[field] : shape[field];
    if (beside !== undefined) updates[beside] = shape[beside];
  }
  return updates;
}
