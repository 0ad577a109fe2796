// Loads code that is not in the entry: pages, and what is rarely opened. After an upgrade of the service a tab may ask for files that are not there any more; then the page is
// loaded anew, once.

const RELOADED = "arborgate.reloaded";

/** Wraps an import: when its file cannot be loaded the tab is reloaded once; a second failure is thrown. */
export const loadChunk =
  <M>(load: () => Promise<M>): (() => Promise<M>) =>
  async () => {
    try {
      const loaded = await load();
      sessionStorage.removeItem(RELOADED);
      return loaded;
    } catch (error) {
      if (sessionStorage.getItem(RELOADED) !== null || !navigator.onLine) throw error;
      sessionStorage.setItem(RELOADED, "1");
      location.reload();
      return await new Promise<never>(() => undefined);
    }
  };
