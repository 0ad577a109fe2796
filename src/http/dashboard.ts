// /dashboard/*: what any account may see of itself. Never depends on its balance or on gateway limits.

import { Type } from "@sinclair/typebox";
import { toUsd } from "../../actors/money.ts";
import type { Replicas } from "../gateway/replicas.ts";
import { lineCount, lineShape, numberedLines } from "../report/lines.ts";
import { Refused } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";
import { answer, type Caller, type Edge, endpoint } from "./endpoint.ts";
import { balanceOf, digits, NoQuery, pageOf } from "./shapes.ts";

export interface DashboardParts extends Edge {
  readonly store: Store;
  readonly replicas: Replicas;
}

/** May this account have subaccounts, and so open the management console? */
const manages = (caller: Caller): boolean => caller.profile.userLimit !== 0;

/** spec: GET /dashboard/status. */
export const getStatus = (parts: DashboardParts) =>
  endpoint(parts, { who: "any", query: NoQuery }, async ({ caller }) => {
    const { config } = await parts.replicas.lineage(caller.profile.id);
    return answer({
      object: "user_status",
      id: caller.profile.id,
      dna: caller.profile.dna,
      name: caller.profile.name,
      email: caller.profile.email,
      alias: caller.profile.alias,
      public_key: `pk-${caller.keyHash.slice(0, 16)}`,
      balance: balanceOf(caller),
      user_api_balance: toUsd(config.config.userApiBalance),
      manage: manages(caller),
      admin: caller.isOwner,
    });
  });

/** spec: GET /dashboard/x-user-status: the short form. */
export const getShortStatus = (parts: DashboardParts) =>
  endpoint(parts, { who: "any", query: NoQuery }, ({ caller }) =>
    answer({
      id: caller.profile.id,
      name: caller.profile.name,
      email: caller.profile.email,
      balance: balanceOf(caller),
      dna: caller.profile.dna,
    }),
  );

const LedgerQuery = Type.Object(
  { page: Type.Optional(digits), size: Type.Optional(digits) },
  { additionalProperties: false },
);

/** contract section 5: the account's own ledger, newest first. */
export const getLedger = (parts: DashboardParts) =>
  endpoint(parts, { who: "any", query: LedgerQuery }, async ({ caller, query }) => {
    const { page, size } = pageOf(query, { size: 24, most: 1_000 });
    if (page === 0 || size === 0) {
      throw new Refused({ code: "invalid_parameter", message: '"page" and "size" must be at least 1 here.' });
    }
    const id = caller.profile.id;
    const total = await lineCount(parts.store, id);
    const newest = total - (page - 1) * size;
    const lines = await numberedLines(parts.store, id, Math.max(1, newest - size + 1), newest);
    return answer({ lines: lines.map(lineShape), total, page, size, has_more: newest - size > 0 });
  });
