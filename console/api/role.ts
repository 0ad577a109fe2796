// What the key that is signed in may do, from `/dashboard/status`: which pages exist for it.

import type { Answers } from "./answers.ts";

/** The answer about the account of the key. */
export type Status = Answers["/dashboard/status"];

/** The id of Root (contract section 3). */
const ROOT_ID = 1;

/** What a page needs of the key. */
export type Need = "invoke" | "read" | "manage_keys" | "read_and_manage" | "manage" | "admin" | "root";

/** Whether the account that is signed in is Root. */
export const isRoot = ({ id }: Pick<Status, "id">): boolean => id === ROOT_ID;

/** Whether a page that needs `need` exists for the account and the key of this status. */
export function isAllowed(status: Status, need: Need): boolean {
  const has = (scope: Status["scopes"][number]) => status.scopes.includes(scope);
  switch (need) {
    case "invoke":
    case "read":
      return has(need);
    case "manage_keys":
      return has("manage");
    case "read_and_manage":
      return has("read") && has("manage");
    case "manage":
      return status.manage && has("read") && has("manage");
    case "admin":
      return status.admin && has("admin");
    case "root":
      return status.admin && has("admin") && isRoot(status);
  }
}
