// Sets the colour scheme before anything is drawn, so that a dark page never flashes white. A classic script of its own in the
// head: a module would run after the first drawing, and the policy allows no inline script. Mantine reads and writes the same
// entry of the storage and the same attribute.

(() => {
  const KEY = "mantine-color-scheme-value";
  const isDark = (): boolean => matchMedia("(prefers-color-scheme: dark)").matches;

  /** Returns what was chosen, or null: storage may be forbidden. */
  function chosen(): string | null {
    try {
      return localStorage.getItem(KEY);
    } catch (error) {
      console.warn("the chosen colour scheme cannot be read", error);
      return null;
    }
  }

  const scheme = chosen();
  const shown = scheme === "light" || scheme === "dark" ? scheme : isDark() ? "dark" : "light";
  document.documentElement.setAttribute("data-mantine-color-scheme", shown);
})();
