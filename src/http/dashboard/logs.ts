// GET /dashboard/logs: the operation log, as far as it is about the caller and its descendants or was written by the
// caller's own doing; Root reads all of it. Reads only; audit-log.ts writes.

import { Type } from "@sinclair/typebox";
import { isRoot, type Profile } from "../../../actors/account/state.ts";
import { dnaBelow } from "../../../actors/ids.ts";
import { RefusedError } from "../../base/errors.ts";
import type { Conditions, Store, Where } from "../../store/store.ts";
import { answer, endpoint } from "../endpoint.ts";
import type { ManagementParts } from "../management.ts";
import { digits, pageOf, textSchema } from "../schemas.ts";

export interface LogsParts extends ManagementParts {
  readonly store: Store;
}

const LogsQuery = Type.Object(
  {
    page: Type.Optional(digits),
    size: Type.Optional(digits),
    action: Type.Optional(textSchema(64)),
    target_id: Type.Optional(
      Type.String({ pattern: "^[0-9]{1,15}$", description: "must be the number of an account or a key" }),
    ),
    status: Type.Optional(
      Type.Union([Type.Literal("success"), Type.Literal("failed")], {
        description: 'must be "success" or "failed"',
      }),
    ),
  },
  { additionalProperties: false },
);

const PAGE = { size: 24, most: 100 };

/** spec: GET /dashboard/logs. Newest first. */
export const getLogs = (parts: LogsParts) =>
  endpoint(parts, { who: "any", query: LogsQuery }, async ({ caller, query }) => {
    const { page, size } = pageOf(query, PAGE);
    if (page === 0 || size === 0) {
      throw new RefusedError({
        code: "invalid_parameter",
        message: '"page" and "size" must be at least 1 here.',
      });
    }
    const { action, target_id, status } = query;
    const filters: Where<"logs">[] = [
      ...(action === undefined ? [] : [equal("action", action)]),
      ...(target_id === undefined ? [] : [equal("target", Number(target_id))]),
      ...(status === undefined ? [] : [equal("status", status)]),
    ];
    const asked: Conditions<"logs"> = { table: "logs", where: filters, ...scopeOf(caller.profile) };
    const [lines, total] = await Promise.all([
      parts.store.find({ ...asked, order: "at", descending: true, offset: (page - 1) * size, limit: size }),
      parts.store.count(asked),
    ]);
    const logs = (lines as unknown as Kept[]).map(lineShape);
    return answer({ logs, total, page, size, has_more: page * size < total });
  });

const equal = (field: Where<"logs">["field"], value: string | number): Where<"logs"> => ({
  field,
  is: "=",
  value,
});

/** An account that was moved still sees what is about itself. */
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

/** What audit-log.ts keeps of a line. */
interface Kept {
  readonly id: number;
  readonly at: number;
  readonly action: string;
  readonly operator: number;
  readonly target?: number;
  readonly targetType: string;
  readonly status: string;
  readonly details: string;
  readonly ip: string;
}

const lineShape = (line: Kept) => ({
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
