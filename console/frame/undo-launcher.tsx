// The place of the notice after a change of the configuration. It is in the frame, so that the notice stays when its page is left;
// the notice itself is loaded with the first change.

import { useRef } from "react";
import { useOfferedUndo } from "../api/undo.ts";
import { loadLater } from "../components/load-later.tsx";

const UndoNotice = loadLater(() => import("../components/undo-notice.tsx"));

/** Shows the offer to undo the last change, while there is one. */
export function UndoLauncher() {
  const undo = useOfferedUndo();
  // What was notified goes on when the offer is over.
  const wasOffered = useRef(false);
  wasOffered.current ||= undo !== null;
  return wasOffered.current ? <UndoNotice undo={undo} /> : null;
}
