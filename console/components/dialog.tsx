// Dialogs and side sheets over a page. Their close buttons have a name, which the kit leaves out.

import { Drawer, Modal } from "@mantine/core";
import type { ReactNode } from "react";
import { useWords } from "../i18n/language.ts";
import { SHELL } from "../i18n/shell.ts";

interface Over {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog in the middle of the page. `isKept`: a click beside it does not close it. */
export function Dialog(props: Over & { readonly isKept?: boolean }) {
  const { title, onClose, children, isKept = false } = props;
  const { close } = useWords(SHELL);
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeOnClickOutside={!isKept}
      closeButtonProps={{ "aria-label": close }}
    >
      {children}
    </Modal>
  );
}

/** A sheet at the right of the page. */
export function Sheet(props: Over) {
  const { close } = useWords(SHELL);
  return (
    <Drawer opened onClose={props.onClose} title={props.title} closeButtonProps={{ "aria-label": close }}>
      {props.children}
    </Drawer>
  );
}
