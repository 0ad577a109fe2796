// Where an account is: the accounts from the signed-in one down to it, each a link to its own page or list.

import { Anchor, Breadcrumbs, Text } from "@mantine/core";
import { Link } from "wouter";
import { idsBetween, useAccounts } from "../api/accounts.ts";
import type { Status } from "../api/role.ts";
import { ACCOUNTS } from "../i18n/accounts.ts";
import { useWords } from "../i18n/language.ts";

/** A longer path shows its first and its last accounts. */
const SHOWN_MAX = 6;

/**
 * The path to an account below the signed-in one, which stands at its end as text. `hrefOf` is where an account of the path leads;
 * null is the signed-in one, `me`.
 */
export function AccountPath(props: {
  readonly me: Status;
  readonly account: { readonly DNA: string; readonly Name: string } | null;
  readonly hrefOf: (id: number | null) => string;
}) {
  const { me, account, hrefOf } = props;
  const words = useWords(ACCOUNTS);
  const ids = account === null ? [] : idsBetween(me, account.DNA);
  const shown = ids.length <= SHOWN_MAX ? ids : [...ids.slice(0, 1), ...ids.slice(1 - SHOWN_MAX)];
  const known = useAccounts(shown);
  const steps = shown.map((id, at) => ({ id, name: known[at]?.Name ?? String(id) }));
  return (
    <nav aria-label={words.pathLabel}>
      <Breadcrumbs separatorMargin={4} fz="sm" className="account-path">
        {account === null ? (
          <Text size="sm">{words.me}</Text>
        ) : (
          <Anchor component={Link} href={hrefOf(null)} size="sm">
            {words.me}
          </Anchor>
        )}
        {steps.map(({ id, name }, at) => (
          <Anchor key={id} component={Link} href={hrefOf(id)} size="sm" className="path-step" title={name}>
            {at === 1 && shown.length < ids.length ? `… ${name}` : name}
          </Anchor>
        ))}
        {account !== null && (
          <Text size="sm" className="path-step" title={account.Name} aria-current="page">
            {account.Name}
          </Text>
        )}
      </Breadcrumbs>
    </nav>
  );
}
