// Whether somebody who typed an account meant the one that is signed in: about it and about those below it other endpoints answer.

import type { Status } from "../../api/role.ts";

/** Whether a text is empty, or the id, the name or the e-mail address of the signed-in account. */
export function isOwnAccount(
  { id, name, email }: Pick<Status, "id" | "name" | "email">,
  text: string,
): boolean {
  const typed = text.trim();
  return typed === "" || [String(id), name, email].includes(typed);
}
