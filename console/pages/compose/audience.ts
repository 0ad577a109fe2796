// Whom an item of news is written for: the path that publishes it, and who may be chosen.

import type { Account } from "../../api/accounts.ts";
import { dnaBelow } from "../../api/accounts.ts";
import { isAllowed, type Status } from "../../api/role.ts";

/** Whom news can be written for. */
export type AudienceKind = "user" | "group" | "everybody";

/** Returns the kinds that this key may choose. Everybody: an Owner or Root, where administration is served at this address. */
export const audienceKinds = (status: Status, origin: string): readonly AudienceKind[] => {
  const isHere = status.admin_url === undefined || new URL(status.admin_url).origin === origin;
  return isAllowed(status, "admin") && isHere ? ["user", "group", "everybody"] : ["user", "group"];
};

/** Returns the place in the tree whose accounts read what is written for a group: those below `account`, or below `me`. */
export const placeOf = (
  me: Pick<Status, "id" | "dna">,
  account: Pick<Account, "ID" | "DNA"> | null,
): string => (account === null ? dnaBelow(me.dna, me.id) : dnaBelow(account.DNA, account.ID));

/** Returns the path of news for a target: everybody, the id of an account, or a DNA. */
export const newsPath = (target: string): string =>
  target === "everybody" ? "/x-news" : `/x-news/${encodeURIComponent(target)}`;
