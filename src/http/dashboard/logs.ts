// Reads the operation log for a caller: lines about it and its descendants, and those of what it did; Root reads all. Lines
// are written by audit-log.ts.

import type { Static } from "@sinclair/typebox";
import { isRoot, type Profile } from "../../../actors/account/state.ts";
import { dnaBelow } from "../../../actors/ids.ts";
import type { Conditions, Store, Where } from "../../store/store.ts";
import type { Action, AuditTarget } from "../audit-log.ts";
import type { ManagementCaller } from "../management.ts";
import { positivePageOf } from "../schemas.ts";
import { timeRangeOf } from "../time-range.ts";
import type { LogsQuerySchema, LogsSchema } from "./schemas.ts";

const PAGE = { size: 24, most: 100 };

/** Lists lines of the operation log that the caller may see, the newest first. Source: specification, "Logs". */
export async function logsOf(
  store: Store,
  { profile }: ManagementCaller,
  query: Static<typeof LogsQuerySchema>,
): Promise<Static<typeof LogsSchema>> {
  const { page, size } = positivePageOf(query, PAGE);
  const { action, operator_id, target_id, status } = query;
  const { from, until } = timeRangeOf(query);
  const filters: Where<"logs">[] = [
    ...(from === undefined ? [] : [{ field: "at", is: ">=", value: from } as const]),
    ...(until === undefined ? [] : [{ field: "at", is: "<=", value: until - 1 } as const]),
    ...(action === undefined ? [] : [equal("action", action)]),
    ...(operator_id === undefined ? [] : [equal("operator", Number(operator_id))]),
    ...(target_id === undefined ? [] : [equal("target", Number(target_id))]),
    ...(status === undefined ? [] : [equal("status", status)]),
  ];
  const asked: Conditions<"logs"> = { table: "logs", where: filters, ...scopeOf(profile) };
  const [lines, total] = await Promise.all([
    store.find({ ...asked, order: "at", descending: true, offset: (page - 1) * size, limit: size }),
    store.count(asked),
  ]);
  const logs = (lines as unknown as StoredLine[]).map(lineShape);
  return { logs, total, page, size, has_more: page * size < total };
}

const equal = (field: Where<"logs">["field"], value: string | number): Where<"logs"> => ({
  field,
  is: "=",
  value,
});

/** The lines that an account may see. One that was moved still sees what is about itself. */
function scopeOf(profile: Profile): Pick<Conditions<"logs">, "anyOf"> {
  if (isRoot(profile)) return {};
  const { id, dna } = profile;
  return {
    anyOf: [
      [equal("operator", id)],
      [equal("targetType", "user"), equal("target", id)],
      [{ field: "targetDna", is: "starts", value: dnaBelow(dna, id) }],
    ],
  };
}

/** A line as audit-log.ts stores it. */
interface StoredLine {
  readonly id: number;
  readonly at: number;
  readonly action: Action;
  readonly operator: number;
  readonly target?: number;
  readonly targetType: AuditTarget["type"];
  readonly status: "success" | "failed";
  readonly details: string;
  readonly ip: string;
}

const lineShape = (line: StoredLine) => ({
  id: line.id,
  action: line.action,
  operator_id: line.operator,
  target_id: line.target ?? null,
  target_type: line.targetType,
  details: line.details,
  ip_address: line.ip,
  created_at: new Date(line.at).toISOString().slice(0, 19).replace("T", " "),
  status: line.status,
});
