// Putting a text on the clipboard. The Clipboard API exists on secure origins alone, and a browser may refuse it; the console is also
// served at plain http addresses.

/** Puts a text on the clipboard. `beside`: the element that asked for it, which has the focus again. Returns whether it is there. */
export async function putOnClipboard(text: string, beside: Element): Promise<boolean> {
  try {
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard !== undefined) {
      await clipboard.writeText(text);
      return true;
    }
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
  return copySelected(text, beside);
}

/** Copies a text by selecting it. It stands beside the element that asked, because a dialog keeps the focus within itself. */
function copySelected(text: string, beside: Element): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.style.position = "fixed";
  beside.after(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (beside instanceof HTMLElement) beside.focus();
  return isCopied;
}
