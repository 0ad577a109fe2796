// /x-users: the caller's subaccounts.

import { type Static, Type } from "@sinclair/typebox";
import type { AccountRecord } from "../../actors/account/views.ts";
import { parseAddresses } from "../../actors/address.ts";
import type { AccountId } from "../../actors/ids.ts";
import { to } from "../../actors/index.ts";
import { fromUsd, type Nano, toUsd, ZERO } from "../../actors/money.ts";
import { parseList } from "../../actors/pattern.ts";
import type { Created, Creation } from "../admin/create-account.ts";
import type { Replicas } from "../gateway/replicas.ts";
import { Refused } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { answer, type Edge, endpoint } from "./endpoint.ts";
import { accountShape, lowerLimits, NewUser, unfitName } from "./shapes.ts";

const DEFAULT_DAYS = 180;

export interface UsersParts extends Edge {
  readonly store: Store;
  readonly replicas: Replicas;
  readonly createAccount: (creation: Creation) => Promise<Created>;
}

const wrong = (field: string, rule: string): never => {
  throw new Refused({ code: "invalid_parameter", message: `"${field}": ${rule}.` });
};

/** spec: POST /x-users. */
export const postUsers = (parts: UsersParts) =>
  endpoint(parts, { who: "any", body: NewUser }, async ({ caller, body }) => {
    const account = accountOf(body);
    const { owner, config } = await parts.replicas.lineage(caller.profile.id);
    const { record, key } = await parts.createAccount({
      parent: caller.profile.id,
      account,
      amount: nano(body.CreditGranted, "CreditGranted"),
      days: body.Days ?? DEFAULT_DAYS,
      keep:
        owner === caller.profile.id && caller.profile.parent === null ? ZERO : config.config.userMinBalance,
    });
    return answer({
      Action: "add",
      User: {
        ID: record.profile.id,
        SecretKey: key,
        Updates: {
          Name: record.profile.name,
          Email: record.profile.email,
          CreditGranted: body.CreditGranted,
          Balance: toUsd(record.balance),
          HardLimit: toUsd(record.profile.hardLimit),
          SoftLimit: toUsd(record.profile.softLimit),
          Status: record.profile.status,
          Level: record.profile.level,
          DNA: record.profile.dna,
        },
      },
    });
  });

function accountOf(body: Static<typeof NewUser>): Creation["account"] {
  const unfit = unfitName(body.Name);
  if (unfit !== null) wrong("Name", unfit);
  const addresses = parseAddresses(body.AllowIPs ?? "");
  if (!addresses.ok) return wrong("AllowIPs", `"${addresses.item}" is neither an address nor a CIDR range`);
  const resources = parseList(body.Resources ?? "");
  const badPath = resources.find((path) => !/^\/v1\/[\w\-./*]{1,200}$/.test(path));
  if (badPath !== undefined) wrong("Resources", `"${badPath.slice(0, 80)}" is not a path below /v1/`);
  const optional = {
    alias: body.Alias,
    billingEmail: body.BillingEmail,
    rates: body.Rates,
    hardLimit: optionalNano(body.HardLimit, "HardLimit"),
    softLimit: optionalNano(body.SoftLimit, "SoftLimit"),
    autoQuota: optionalNano(body.AutoQuota, "AutoQuota"),
    modelLimits: body.ModelLimits,
    resources: body.Resources === undefined ? undefined : resources,
  };
  return {
    name: body.Name,
    email: body.Email,
    limits: lowerLimits(body),
    allowIps: addresses.value,
    allowModels: parseList(body.AllowModels ?? ""),
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as object),
  };
}

function nano(usd: number, field: string): Nano {
  const amount = fromUsd(usd);
  return amount ?? wrong(field, "must be a finite amount of US dollars");
}

const optionalNano = (usd: number | undefined, field: string): Nano | undefined =>
  usd === undefined ? undefined : nano(usd, field);

/** spec: GET /x-users/{identifier}: id, name or e-mail among the direct children. */
export const getUser = (parts: UsersParts) =>
  endpoint(
    parts,
    { who: "any", query: Type.Object({}, { additionalProperties: false }) },
    async ({ caller, params }) => {
      const identifier = params.identifier ?? "";
      const found = await children(parts, caller.profile.id, identifier);
      if (found.length === 0) {
        throw new Refused({
          code: "user_not_found",
          message: `None of your subaccounts is "${identifier.slice(0, 80)}".`,
        });
      }
      return answer(found.map(accountShape), { "X-Total-Count": String(found.length) });
    },
  );

async function children(parts: UsersParts, parent: AccountId, identifier: string): Promise<AccountRecord[]> {
  const records: AccountRecord[] = [];
  for (const id of await candidates(parts.store, parent, identifier)) {
    try {
      const record = await parts.system.ask(to.account(id), "read", {});
      if (record.profile.parent === parent) records.push(record);
    } catch (error) {
      if (!(error instanceof Refused) || error.refusal.code !== "user_not_found") throw error;
    }
  }
  return records;
}

async function candidates(store: Store, parent: AccountId, identifier: string): Promise<AccountId[]> {
  if (/^[0-9]{1,15}$/.test(identifier)) return [Number(identifier) as AccountId];
  if (identifier.includes("@")) {
    const documents = await store.find({
      table: "accounts",
      where: [
        { field: "parent", is: "=", value: parent },
        { field: "email", is: "=", value: identifier },
      ],
      order: "id",
      limit: 1_000,
    });
    return documents.map((document) => document.id as AccountId);
  }
  const claim = await store.claimed(`name:${identifier.toLowerCase()}`);
  return claim === null ? [] : [claim.account as AccountId];
}
