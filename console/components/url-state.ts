// Filters, periods and pages live in the address, so that a view can be sent to somebody and back and forward work.

import { useCallback } from "react";
import { useLocation, useSearch } from "wouter";

/** The parameters of a view by name; an empty text is the default and is not written. */
export type UrlState<N extends string> = Readonly<Record<N, string>>;

/**
 * Returns the named parameters of the address and a function that changes some of them. `defaults` says which there are.
 * A change of anything but `page` goes back to the first page. Each change is an entry of the browser's history, but for one that
 * `replaces` the latest: letters of a search as it is typed.
 */
export function useUrlState<N extends string>(
  defaults: UrlState<N>,
): readonly [UrlState<N>, (change: Partial<Record<N, string>>, replaces?: boolean) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const given = new URLSearchParams(search);
  const names = Object.keys(defaults) as N[];
  const state = Object.fromEntries(names.map((name) => [name, given.get(name) ?? defaults[name]]));
  const change = useCallback(
    (changes: Partial<Record<N, string>>, replaces = false) => {
      const next = new URLSearchParams(search);
      if (!("page" in changes)) next.delete("page");
      for (const [name, value] of Object.entries<string | undefined>(changes)) {
        if (value === undefined || value === "" || value === defaults[name as N]) next.delete(name);
        else next.set(name, value);
      }
      const text = next.toString();
      navigate(text === "" ? path : `${path}?${text}`, { replace: replaces });
    },
    [search, path, navigate, defaults],
  );
  return [state as UrlState<N>, change];
}
