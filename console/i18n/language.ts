// The language of the pages: the browser's where it is one of ours, or the chosen one. Dictionaries have the same words in each
// language; a missing one does not compile.

import { useSyncExternalStore } from "react";

/** The languages of the console. */
export const LANGUAGES = { en: "English", zh: "中文" } as const;

/** One of them. */
export type Language = keyof typeof LANGUAGES;

/** The words of a page in every language. */
export type Dictionary<W> = Readonly<Record<Language, W>>;

const CHOSEN = "arborgate.language";
const listeners = new Set<() => void>();

const isLanguage = (text: string | null): text is Language => text !== null && Object.hasOwn(LANGUAGES, text);

function initialLanguage(): Language {
  const chosen = localStorage.getItem(CHOSEN);
  if (isLanguage(chosen)) return chosen;
  const preferred = navigator.languages.map((tag) => tag.slice(0, 2));
  return preferred.find(isLanguage) ?? "en";
}

let language = initialLanguage();
document.documentElement.lang = language;

/** Declares words. English decides which there are; a language that lacks one does not compile. */
export const dictionary = <W extends object>(words: {
  readonly en: W;
  readonly zh: NoInfer<W>;
}): Dictionary<W> => words;

/** Chooses the language of all pages, and keeps the choice in this browser. */
export function chooseLanguage(chosen: Language): void {
  language = chosen;
  localStorage.setItem(CHOSEN, chosen);
  document.documentElement.lang = chosen;
  for (const listener of listeners) listener();
}

/** Returns the language, and renders again when it changes. */
export const useLanguage = (): Language =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => language,
  );

/** Returns the words of a dictionary in the language of the pages. */
export const useWords = <W>(words: Dictionary<W>): W => words[useLanguage()];
