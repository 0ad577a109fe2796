// An account of which a page has the id alone: by its name where it is below the signed-in one, else by its number.

import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { useGet } from "../api/queries.ts";
import { isAllowed, type Status } from "../api/role.ts";
import { ACCOUNTS } from "../i18n/accounts.ts";
import { useWords } from "../i18n/language.ts";

/**
 * Returns what an account is called; a question that has no answer, or none yet, leaves its number. `me` is the account that is
 * signed in.
 */
export function useAccountName(
  me: Status,
  id: number | null,
): { readonly name: string; readonly isBelow: boolean } {
  const words = useWords(ACCOUNTS);
  const enabled = id !== null && id !== me.id && isAllowed(me, "manage");
  // Names hardly ever change, so they are asked for once; equal questions of a page are one.
  const asked = useGet("/x-dna", { id: id ?? undefined, page: 1, size: 1 }, { enabled, everyMs: 0 });
  if (id === null) return { name: "", isBelow: false };
  if (id === me.id) return { name: words.me, isBelow: false };
  const found = enabled ? asked.data?.find(({ ID }) => ID === id) : undefined;
  return { name: found?.Name ?? words.account(id), isBelow: found !== undefined };
}

/** The name of an account, with the way to it where `isLink`. */
export function AccountName(props: { readonly me: Status; readonly id: number; readonly isLink?: boolean }) {
  const { me, id, isLink = false } = props;
  const { name, isBelow } = useAccountName(me, id);
  if (!isLink || !isBelow) {
    return (
      <span className="cut" title={`${name} · ${id}`}>
        {name}
      </span>
    );
  }
  return (
    <Anchor component={Link} href={`/accounts/${id}`} size="sm" className="cut" title={`${name} · ${id}`}>
      {name}
    </Anchor>
  );
}
