// The nonce of this page, by which style elements that scripts make are allowed. The server writes a fresh one into each
// `index.html`, in a meta tag, because the attribute `nonce` of an element cannot be read by styles.

/** Returns the nonce of this page; an empty text where the page has none. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
}
