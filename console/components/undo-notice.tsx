// The notice after a change of the configuration: for ten seconds it offers the way back to the version before. It is loaded with
// the first change, see undo-launcher.tsx.

import { Anchor, Button, Group, Text } from "@mantine/core";
import { Notifications, notifications } from "@mantine/notifications";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { newestVersion } from "../api/config-writes.ts";
import { type Failure, failureOf } from "../api/failure.ts";
import { type Undo, withdrawUndo } from "../api/undo.ts";
import { useWrite } from "../api/writes.ts";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";
import { UNDO } from "../i18n/undo.ts";
import { FailureNotice } from "./failure-notice.tsx";

/** How long a change can be undone. */
const OFFER_S = 10;
/** How long its result is shown. */
const RESULT_MS = 6_000;

const noticeOf = ({ made }: Undo): string => `undo-${made}`;

/** Shows the offer, and whatever else is notified. */
export default function UndoNotice({ undo }: { readonly undo: Undo | null }) {
  const { close } = useWords(SHELL);
  // Notices outlive the page that made them, but not the session.
  useEffect(() => () => notifications.clean(), []);
  useEffect(() => {
    if (undo === null) return;
    // Only the newest change can be undone.
    notifications.clean();
    notifications.show({
      id: noticeOf(undo),
      message: <Offer undo={undo} />,
      autoClose: false,
      closeButtonProps: { "aria-label": close },
      onClose: () => withdrawUndo(undo),
    });
  }, [undo, close]);
  return <Notifications position="bottom-right" limit={2} transitionDuration={0} />;
}

type Outcome = "offered" | "undone" | "superseded";

/** What the notice says: the offer with its seconds, then what became of it. */
function Offer({ undo }: { readonly undo: Undo }) {
  const words = useWords(UNDO);
  const writing = useWrite();
  const [outcome, setOutcome] = useState<Outcome>("offered");
  const [isAsked, setAsked] = useState(false);
  const [unread, setUnread] = useState<Failure | null>(null);
  const left = useSecondsLeft(undo, outcome === "offered" && !isAsked);
  const failure = unread ?? writing.failure;
  const end = (how: Outcome) => {
    setOutcome(how);
    setTimeout(() => notifications.hide(noticeOf(undo)), RESULT_MS);
  };
  const revert = async () => {
    const body = { version: undo.former };
    const answer = await writing.send({ method: "POST", path: "/x-config/revert", body });
    if (answer !== null) end("undone");
  };
  const run = async () => {
    setAsked(true);
    setUnread(null);
    try {
      if ((await newestVersion()) === undo.made) await revert();
      else end("superseded");
    } catch (error) {
      setUnread(failureOf(error));
    }
  };
  if (failure !== null) {
    const repeat = { run: () => void revert(), isSafe: true };
    return <FailureNotice failure={failure} onRetry={() => void run()} repeat={repeat} />;
  }
  if (outcome !== "offered") {
    return (
      <Text size="sm" role="status">
        {outcome === "undone" ? words.undone(undo.former) : words.superseded}{" "}
        {outcome === "superseded" && (
          <Anchor component={Link} href="/admin/history" inherit>
            {words.history}
          </Anchor>
        )}
      </Text>
    );
  }
  return (
    <Group gap="sm" wrap="nowrap" justify="space-between">
      <Text size="sm" role="status">
        {words.saved(undo.made)}
      </Text>
      <Button variant="default" onClick={() => void run()} loading={isAsked}>
        {words.undo}
        <Text span size="xs" c="dimmed" ml={6} className="figure" aria-hidden>
          {words.left(left)}
        </Text>
      </Button>
    </Group>
  );
}

/** Counts the seconds of the offer down while it is open, and hides it at 0. */
function useSecondsLeft(undo: Undo, isOpen: boolean): number {
  const [left, setLeft] = useState(OFFER_S);
  useEffect(() => {
    if (!isOpen) return;
    const timer = setInterval(() => setLeft((seconds) => seconds - 1), 1_000);
    return () => clearInterval(timer);
  }, [isOpen]);
  useEffect(() => {
    if (isOpen && left <= 0) notifications.hide(noticeOf(undo));
  }, [isOpen, left, undo]);
  return Math.max(0, left);
}
