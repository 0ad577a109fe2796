// Whom a caller may ask about: its descendants, named by id, name or e-mail. An account out of reach is not there.

import type { AccountRecord } from "../../actors/account/views.ts";
import type { AccountId } from "../../actors/ids.ts";
import { type Protocol, to } from "../../actors/index.ts";
import { type ActorSystem, Refused } from "../runtime/system.ts";
import type { Store } from "../store/store.ts";

export interface ReachParts {
  readonly system: ActorSystem<Protocol>;
  readonly store: Store;
}

/** The one descendant of that id, name or e-mail. Throws Refused: none, or an e-mail that several have. */
export async function descendant(
  parts: ReachParts,
  caller: AccountRecord,
  identifier: string,
): Promise<AccountRecord> {
  const under = `${caller.profile.dna}${caller.profile.id}.`;
  const found: AccountRecord[] = [];
  for (const id of await candidates(parts.store, under, identifier)) {
    const record = await recordOf(parts.system, id);
    if (record?.profile.dna.startsWith(under)) found.push(record);
  }
  const [only, another] = found;
  if (another !== undefined) {
    throw new Refused({
      code: "ambiguous_identifier",
      message: `Several of your subaccounts have the e-mail ${identifier.slice(0, 254)}. Name one by its id.`,
    });
  }
  if (only !== undefined) return only;
  throw new Refused({
    code: "user_not_found",
    message: `None of your subaccounts is "${identifier.slice(0, 80)}".`,
  });
}

async function candidates(store: Store, under: string, identifier: string): Promise<AccountId[]> {
  if (/^[0-9]{1,15}$/.test(identifier)) return [Number(identifier) as AccountId];
  if (identifier.includes("@")) {
    const documents = await store.find({
      table: "accounts",
      where: [
        { field: "dna", is: "starts", value: under },
        { field: "email", is: "=", value: identifier },
      ],
      order: "id",
      limit: 2,
    });
    return documents.map((document) => document.id as AccountId);
  }
  const claim = await store.claimed(`name:${identifier.toLowerCase()}`);
  return claim === null ? [] : [claim.account as AccountId];
}

async function recordOf(system: ActorSystem<Protocol>, id: AccountId): Promise<AccountRecord | null> {
  try {
    return await system.ask(to.account(id), "read", {});
  } catch (error) {
    if (error instanceof Refused && error.refusal.code === "user_not_found") return null;
    throw error;
  }
}
