// Loads code that is not in the entry. After an upgrade of the service a tab may ask for files that are not there any more; then the
// page is loaded anew, once for each version of the console.

import { CallFailed } from "./failure.ts";

/** The entry's file of the version for which the tab was loaded anew. */
const RELOADED = "arborgate.reloaded";

/** The name of the entry's file, which has another hash in every version. */
const version = (): string =>
  document.querySelector<HTMLScriptElement>('script[type="module"]')?.src ?? "unknown";

/**
 * Runs an import. Where its file cannot be loaded the tab is loaded anew; a second failure of the same version is thrown, and without
 * a network the first one, as `CallFailed`.
 */
export async function loadChunk<M>(load: () => Promise<M>): Promise<M> {
  try {
    return await load();
  } catch (error) {
    // A page without a network has nothing to be loaded anew from.
    if (!navigator.onLine) throw new CallFailed({ kind: "unreachable" });
    if (sessionStorage.getItem(RELOADED) === version()) throw error;
    sessionStorage.setItem(RELOADED, version());
    location.reload();
    return await new Promise<never>(() => undefined);
  }
}
