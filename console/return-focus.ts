// Gives the focus back after a dialog. Pages take their dialogs away when these are closed, and the kit gives the focus back only when
// a dialog stays and is hidden; without this who uses the keyboard would begin at the top of the page again.

const DIALOG = '[role="dialog"]';

/** Watches where the focus is, and what had it before a dialog. Called once, at the start. */
export function returnFocusOfDialogs(): void {
  let outside: HTMLElement | null = null;
  let isInDialog = false;
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    isInDialog = target.closest(DIALOG) !== null;
    if (!isInDialog) outside = target;
  });
  const observer = new MutationObserver(() => {
    if (!isInDialog || document.activeElement !== document.body) return;
    isInDialog = false;
    // Where one dialog lay over another, that one has the focus.
    const next = document.querySelector<HTMLElement>(DIALOG) ?? outside;
    const isThere = next?.isConnected === true;
    (isThere ? next : document.querySelector<HTMLElement>("main"))?.focus({ preventScroll: true });
  });
  observer.observe(document.body, { childList: true, subtree: true });
}
