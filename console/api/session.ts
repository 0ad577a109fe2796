// The API key of this browser: where it is kept, and when it is forgotten. It is kept in session storage, or in local storage
// where the person asks to be remembered, and leaves the browser in the Authorization header alone. It is never in an address.

import { useSyncExternalStore } from "react";

/** The name under which either storage keeps the key. */
export const KEY_NAME = "arborgate.key";
/** The time of the last sign of life beside it, in wall milliseconds. */
const ACTIVE_NAME = "arborgate.active";
/** After so long without a click or a key press the key is forgotten. */
const IDLE_MS_MAX = 3_600_000;
/** How often idleness is looked at, and written down at most. */
const IDLE_CHECK_MS = 30_000;

/** Why nobody is signed in. */
export type SignedOutReason = "none" | "signed_out" | "idle" | "rejected";

/** A person who is signed in, or not. */
export type Session =
  | {
      readonly key: string;
      readonly remembered: boolean;
      /** Grows with each sign-in; a key that replaces another continues the session. */
      readonly number: number;
    }
  | { readonly key: null; readonly reason: SignedOutReason };

let signIns = 0;
const listeners = new Set<() => void>();
let session: Session = readSession();

function readSession(): Session {
  for (const storage of [sessionStorage, localStorage]) {
    const key = storage.getItem(KEY_NAME);
    if (key === null) continue;
    const idleMs = Date.now() - Number(storage.getItem(ACTIVE_NAME) ?? Date.now());
    if (idleMs < IDLE_MS_MAX) return { key, remembered: storage === localStorage, number: 0 };
    forgetStored();
    return { key: null, reason: "idle" };
  }
  return { key: null, reason: "none" };
}

function forgetStored(): void {
  for (const storage of [sessionStorage, localStorage]) {
    storage.removeItem(KEY_NAME);
    storage.removeItem(ACTIVE_NAME);
  }
}

function change(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

/** Keeps a key that the service has accepted; `remember` keeps it beyond the end of this tab. */
export function signIn(key: string, remember: boolean): void {
  keep(key, remember);
  change({ key, remembered: remember, number: ++signIns });
}

function keep(key: string, remember: boolean): void {
  forgetStored();
  const storage = remember ? localStorage : sessionStorage;
  storage.setItem(KEY_NAME, key);
  storage.setItem(ACTIVE_NAME, String(Date.now()));
}

/** Forgets the key everywhere in this browser. */
export function signOut(reason: SignedOutReason): void {
  if (session.key === null || (reason === "rejected" && isReplacing)) return;
  forgetStored();
  change({ key: null, reason });
}

/**
 * Puts a new key of the same account in the place of `replaced`. Where that is not the key of the session any more, nothing is done:
 * another account may have signed in while the new key was on its way.
 */
export function replaceKey(key: string, replaced: string | null): void {
  if (session.key === null || session.key !== replaced) return;
  keep(key, session.remembered);
  change({ ...session, key });
}

let isReplacing = false;

/**
 * Runs a rotation of the key that is signed in, which calls `replaceKey`. A poll that the service refuses meanwhile, because the
 * former key is dead and the new one still on its way here, does not sign out: the answer with the new key would be lost.
 */
export async function whileReplacing<T>(rotation: () => Promise<T>): Promise<T> {
  isReplacing = true;
  try {
    return await rotation();
  } finally {
    isReplacing = false;
  }
}

/** Returns the key for a request, or null when nobody is signed in. */
export const currentKey = (): string | null => session.key;

/** Returns the session, and renders again when it changes. */
export const useSession = (): Session =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );

/** Watches for idleness, and for a sign-out in another tab. Called once, at the start. */
export function watchSession(): void {
  let activeAt = Date.now();
  /** Ends a session whose hour is over; otherwise returns its last sign of life in any tab, and where that is kept. */
  const endOrLatest = () => {
    if (session.key === null) return null;
    const storage = session.remembered ? localStorage : sessionStorage;
    const latest = Math.max(activeAt, Number(storage.getItem(ACTIVE_NAME) ?? 0));
    if (Date.now() - latest < IDLE_MS_MAX) return { storage, latest };
    signOut("idle");
    return null;
  };
  for (const event of ["pointerdown", "keydown"]) {
    const renew = () => {
      // No timer runs while a computer sleeps: the first press after it may come before the next look, and must not renew what is over.
      endOrLatest();
      activeAt = Date.now();
    };
    // Captured, so that the session has ended before anything on the page acts on the press.
    window.addEventListener(event, renew, { capture: true });
  }
  setInterval(() => {
    const alive = endOrLatest();
    alive?.storage.setItem(ACTIVE_NAME, String(alive.latest));
  }, IDLE_CHECK_MS);
  window.addEventListener("storage", ({ key, newValue }) => {
    if (key === KEY_NAME && newValue === null && session.key !== null && session.remembered) {
      change({ key: null, reason: "signed_out" });
    }
  });
}
