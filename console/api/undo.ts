// The change of the configuration that can still be undone. It is held outside of the pages, so that the offer stays when the page
// that made the change is left. components/undo-notice.tsx shows it.

import { useSyncExternalStore } from "react";

/** A change that was saved: the version that it made, and the one before it. */
export interface Undo {
  readonly made: number;
  readonly former: number;
}

const listeners = new Set<() => void>();
let offered: Undo | null = null;

function offer(undo: Undo | null): void {
  offered = undo;
  for (const listener of listeners) listener();
}

/** Offers to undo a change. It takes the place of an earlier offer, whose version is not the newest any more. */
export const offerUndo = (undo: Undo): void => offer(undo);

/** Takes any offer back: it is not the next account's. */
export const withdrawAll = (): void => offer(null);

/** Takes an offer back, unless a later one is in its place. */
export const withdrawUndo = (undo: Undo): void => {
  if (offered === undo) offer(null);
};

/** Returns the change that can be undone, and renders again when it is another. */
export const useOfferedUndo = (): Undo | null =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => offered,
  );
