// API keys anew: one to choose from, the caller's own, and, for Root, anybody's. A new key is shown once, in the answer
// that makes it; the old one is dead with that answer.

import { Type } from "@sinclair/typebox";
import type { AccountId } from "../../../actors/ids.ts";
import { dayOf } from "../../../actors/time.ts";
import { newApiKey } from "../../admin/api-key.ts";
import { rotateKey } from "../../admin/rotate-key.ts";
import { RefusedError } from "../../base/errors.ts";
import { hashKey } from "../../gateway/account/identify.ts";
import type { Store } from "../../store/store.ts";
import { findAccount } from "../accounts/account-lookup.ts";
import type { AuditEntry } from "../audit-log.ts";
import { answer, endpoint, type ManagementCaller, type ManagementParts } from "../management.ts";
import { NoQuery, textSchema } from "../shapes.ts";

export interface RotationParts extends ManagementParts {
  readonly store: Store;
}

/** spec: GET /x-gkey. Nobody's key until POST /x-root gives it to somebody. */
export const getFreshKey = (parts: RotationParts) =>
  endpoint(parts, { who: "any", query: NoQuery }, () => answer({ success: true, key: newApiKey() }));

const confirm = textSchema(64, 1);
const OwnRotation = Type.Object({ confirm }, { additionalProperties: false });

/** spec: POST /x-self. */
export const postSelf = (parts: RotationParts) =>
  endpoint(
    parts,
    { who: "any", body: OwnRotation, action: "rotate_self" },
    async ({ caller, body, journal }) => {
      const { id, name, dna } = caller.profile;
      journal.about({ type: "user", id, dna });
      confirmed(parts, body.confirm, "ROTATE-SELF");
      return rotated(parts, "rotate_self", { id, name, journal }, null);
    },
  );

const RootRotation = Type.Object(
  {
    confirm,
    name: Type.Optional(textSchema(254, 1)),
    key: Type.Optional(
      Type.String({
        pattern: "^[\\x21-\\x7e]{32,128}$",
        description: "must be 32 to 128 visible ASCII characters",
      }),
    ),
  },
  { additionalProperties: false },
);

/** spec: POST /x-root. The key of Root, or of the account with that name. */
export const postRoot = (parts: RotationParts) =>
  endpoint(
    parts,
    { who: "root", body: RootRotation, action: "rotate_root" },
    async ({ caller, body, journal }) => {
      const { id, name, dna } = await whose(parts, caller, body.name);
      journal.about({ type: "user", id, dna });
      confirmed(parts, body.confirm, "ROTATE-ROOT");
      return rotated(parts, "rotate_root", { id, name, journal }, body.key ?? null);
    },
  );

async function whose(parts: RotationParts, caller: ManagementCaller, name: string | undefined) {
  if (name === undefined || name.toLowerCase() === caller.profile.name) return caller.profile;
  return (await findAccount(parts, caller, name, "read")).record.profile;
}

/** Refuses what does not name today, in UTC, and the deed. */
function confirmed(parts: ManagementParts, given: string, deed: "ROTATE-SELF" | "ROTATE-ROOT"): void {
  if (given === `${dayOf(parts.clock.wall())}-${deed}`) return;
  throw new RefusedError({
    code: "confirm_mismatch",
    message: `"confirm": must be today's date in UTC, as YYYY-MM-DD, followed by -${deed}.`,
  });
}

async function rotated(
  parts: RotationParts,
  action: "rotate_self" | "rotate_root",
  { id, name, journal }: { id: AccountId; name: string; journal: AuditEntry },
  chosen: string | null,
) {
  const key = await rotateKey(parts, id, chosen);
  const keyHash = hashKey(key);
  // Somebody may have tried the chosen key before it was anybody's.
  parts.identify.forget(keyHash);
  journal.changed({ Name: name, public_key: `pk-${keyHash.slice(0, 16)}` });
  return answer({
    success: true,
    message: "The key is replaced and the old one is dead. The new one is shown only this once.",
    rotate: { action, id, name, key, timestamp: new Date(parts.clock.wall()).toISOString() },
  });
}
