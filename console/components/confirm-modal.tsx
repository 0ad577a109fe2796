// A write that is asked about first: what will happen, then the button that does it. What cannot be taken back has a red one.

import type { ReactNode } from "react";
import { useWrite, type Write } from "../api/writes.ts";
import { Dialog } from "./dialog.tsx";
import { WriteForm } from "./write-form.tsx";

/** Asks before a write. `children` say what it does; `onDone` gets its answer and closes the dialog. */
export function ConfirmModal<A>(props: {
  readonly title: string;
  readonly write: Write | null;
  readonly submit: string;
  readonly onClose: () => void;
  readonly onDone: (answer: A) => void;
  readonly isFinal?: boolean;
  readonly children: ReactNode;
}) {
  const { title, write, submit, onClose, onDone, isFinal = false, children } = props;
  const writing = useWrite<A>();
  // A dialog that is gone could not say what became of the write.
  const close = () => {
    if (!writing.isRunning) onClose();
  };
  return (
    <Dialog onClose={close} title={title}>
      <WriteForm
        writing={writing}
        write={write}
        submit={submit}
        onDone={onDone}
        {...(isFinal ? { color: "red" } : {})}
      >
        {children}
      </WriteForm>
    </Dialog>
  );
}
