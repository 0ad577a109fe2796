// New API keys: one to choose from, the caller's own, and, for Root, that of any account. A new key is shown once, in the
// answer that makes it; the old one is dead with that answer. Neither rotation minds an Idempotency-Key.

import { Elysia } from "elysia";
import type { AccountId } from "../../../actors/ids.ts";
import { dayOf } from "../../../actors/time.ts";
import { newApiKey } from "../../admin/api-key.ts";
import { rotateKey } from "../../admin/rotate-key.ts";
import { RefusedError } from "../../base/errors.ts";
import { hashKey } from "../../gateway/account/identify.ts";
import type { Store } from "../../store/store.ts";
import { findAccount } from "../accounts/account-lookup.ts";
import { publicKey } from "../api-keys/key-shape.ts";
import type { AuditEntry } from "../audit-log.ts";
import { type ManagementCaller, type ManagementParts, management } from "../management.ts";
import { operation } from "../operation.ts";
import { NoQuerySchema } from "../schemas.ts";
import { FreshKeySchema, RootRotationSchema, rotatedSchema, SelfRotationSchema } from "./schemas.ts";

/** What rotations need. */
export interface CredentialsParts extends ManagementParts {
  readonly store: Store;
}

/** `/x-gkey`, `/x-self`, `/x-root`. Source: specification, "Credentials". */
export const credentials = (parts: CredentialsParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .get("/x-gkey", () => ({ success: true as const, key: newApiKey() }), {
      access: { role: "any", scope: "manage", audit: null },
      query: NoQuerySchema,
      response: FreshKeySchema,
      detail: operation({
        tag: "Dashboard",
        operationId: "generateApiKey",
        summary: "Generate an API key that no account has",
        description: "For use with `POST /x-root`.",
        answerExample: { success: true, key: "sk-0123456789abcdefghijABCDEFGHIJ0123456789abcdefghij" },
      }),
    })
    .post(
      "/x-self",
      async ({ body, call }) => {
        const { profile, keyHash } = call.caller;
        const { id, name, dna } = profile;
        call.audit.setTarget({ type: "user", id, dna });
        assertConfirmed(parts, body.confirm, "ROTATE-SELF");
        // The key may have been replaced since the caller was identified, and must not replace its replacement.
        const rotation = { chosen: null, from: keyHash };
        return rotated(parts, "rotate_self", { id, name, audit: call.audit }, rotation);
      },
      {
        access: { role: "any", scope: "main_key", audit: "rotate_self" },
        query: NoQuerySchema,
        body: SelfRotationSchema,
        response: rotatedSchema("rotate_self"),
        detail: operation({
          tag: "Dashboard",
          operationId: "rotateOwnApiKey",
          summary: "Rotate the caller's own API key",
          description: "The former key admits no request any more once this has answered.",
          requestExample: { confirm: "2026-01-01-ROTATE-SELF" },
          errors: ["confirm_mismatch"],
        }),
      },
    )
    .post(
      "/x-root",
      async ({ body, call }) => {
        const { id, name, dna } = await rotatedAccount(parts, call.caller, body.name);
        call.audit.setTarget({ type: "user", id, dna });
        assertConfirmed(parts, body.confirm, "ROTATE-ROOT");
        // On other accounts Root replaces whatever key there is.
        const from = id === call.caller.profile.id ? call.caller.keyHash : null;
        const rotation = { chosen: body.key ?? null, from };
        return rotated(parts, "rotate_root", { id, name, audit: call.audit }, rotation);
      },
      {
        access: { role: "root", scope: "main_key", audit: "rotate_root" },
        query: NoQuerySchema,
        body: RootRotationSchema,
        response: rotatedSchema("rotate_root"),
        detail: operation({
          tag: "Administration",
          operationId: "rotateApiKey",
          summary: "Rotate Root's API key, or that of a named account",
          requestExample: { name: "root", confirm: "2026-01-01-ROTATE-ROOT" },
          errors: ["confirm_mismatch", "user_not_found"],
        }),
      },
    );

/** Returns the account whose key is replaced: Root, or the account with that name. */
async function rotatedAccount(parts: CredentialsParts, caller: ManagementCaller, name: string | undefined) {
  if (name === undefined || name.toLowerCase() === caller.profile.name) return caller.profile;
  return (await findAccount(parts, caller, name, "read")).record.profile;
}

/** Refuses a confirmation that does not name today, in UTC, and the act. */
function assertConfirmed(
  { clock }: ManagementParts,
  confirmation: string,
  act: "ROTATE-SELF" | "ROTATE-ROOT",
): void {
  if (confirmation === `${dayOf(clock.wall())}-${act}`) return;
  throw new RefusedError({
    code: "confirm_mismatch",
    message: `"confirm": must be today's date in UTC, as YYYY-MM-DD, followed by -${act}.`,
  });
}

/** Replaces the key of an account, as `rotateKey` describes. */
async function rotated<A extends "rotate_self" | "rotate_root">(
  parts: CredentialsParts,
  action: A,
  { id, name, audit }: { id: AccountId; name: string; audit: AuditEntry },
  { chosen, from }: { readonly chosen: string | null; readonly from: string | null },
) {
  const key = await rotateKey(parts, id, chosen, from);
  const keyHash = hashKey(key);
  // A client may have tried the chosen key before any account had it, and the miss is cached.
  parts.identify.forget(keyHash);
  audit.addChanges({ Name: name, public_key: publicKey(keyHash) });
  return {
    success: true as const,
    message: "The key is replaced and the old one is dead. The new one is shown only this once.",
    rotate: { action, id, name, key, timestamp: new Date(parts.clock.wall()).toISOString() },
  };
}
