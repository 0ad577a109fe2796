// The columns of the operation log, and how its lines name who acted and on what.

import { Badge } from "@mantine/core";
import { type LogLine, loggedAt, loggedText, readDetails, readRefusal } from "../../api/log-details.ts";
import type { Status } from "../../api/role.ts";
import { AccountName } from "../../components/account-name.tsx";
import type { Column } from "../../components/data-table.tsx";
import { Time } from "../../components/time.tsx";
import type { ACTIVITY } from "../../i18n/activity.ts";

type Words = (typeof ACTIVITY)["en"];

/** Fields that a row names; the sheet has the others. */
const FIELDS_SHOWN = 3;

/** Returns the columns; `me` is the account that is signed in. */
export const logColumns = (words: Words, me: Status): readonly Column<LogLine>[] => [
  { key: "at", title: words.at, cell: (line) => <Time at={loggedAt(line)} /> },
  {
    key: "action",
    title: words.action,
    cell: ({ action, status }) => (
      <span className="name-cell">
        {words.actions[action]}
        {status === "failed" && (
          <Badge color="red" tt="none">
            {words.statuses.failed}
          </Badge>
        )}
      </span>
    ),
  },
  { key: "by", title: words.by, cell: ({ operator_id }) => <AccountName me={me} id={operator_id} /> },
  { key: "target", title: words.target, cell: (line) => <TargetOf line={line} me={me} words={words} /> },
  { key: "what", title: words.what, cell: (line) => <Summary line={line} words={words} /> },
];

/** What an act was done to: an account by its name, anything else by its kind and number. */
export function TargetOf(props: {
  readonly line: LogLine;
  readonly me: Status;
  readonly words: Words;
  readonly isLink?: boolean;
}) {
  const { line, me, words, isLink = false } = props;
  const { target_type: type, target_id: id } = line;
  if (id === null) return words.targets[type];
  return type === "user" ? <AccountName me={me} id={id} isLink={isLink} /> : `${words.targets[type]} ${id}`;
}

/** The first of the fields that changed, or why the act was refused, in one line. */
function Summary({ line, words }: { readonly line: LogLine; readonly words: Words }) {
  if (line.status === "failed") {
    const { code, message } = readRefusal(line.details);
    return (
      <span className="cut log-summary" title={message}>
        {code === "" ? message : code}
      </span>
    );
  }
  const { changes, rest } = readDetails(line.details);
  const shown = changes
    .slice(0, FIELDS_SHOWN)
    .map(({ field, before, after }) =>
      before === null
        ? `${field} ${loggedText(after)}`
        : `${field} ${loggedText(before)} → ${loggedText(after)}`,
    );
  const hidden = changes.length - shown.length;
  const text = [...shown, ...(hidden > 0 ? [words.more(hidden)] : []), rest]
    .filter((part) => part !== "")
    .join(" · ");
  return (
    <span className="cut log-summary" title={text}>
      {text}
    </span>
  );
}
