// Components whose code is no part of what loads it: pages, and what is rarely opened. React's own `lazy` is not used: React holds back
// for 0.3 s what arrives right after a placeholder, so that every page would be shown so much later.

import { type ComponentType, useEffect, useState } from "react";
import { loadChunk } from "../api/load-chunk.ts";

/** Returns a component whose code is loaded when it is first shown. What cannot be loaded is thrown to the boundary of the page. */
export function loadLater<P extends object>(
  load: () => Promise<{ readonly default: ComponentType<P> }>,
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  // biome-ignore lint/correctness/noComponentHookFactories: it is called once for a component, where modules begin
  return function LoadedLater(props: P) {
    const [, setLoaded] = useState(loaded !== null);
    const [failure, setFailure] = useState<{ readonly error: unknown } | null>(null);
    useEffect(() => {
      if (loaded !== null) return;
      loadChunk(load).then(
        (module) => {
          loaded = module.default;
          setLoaded(true);
        },
        (error: unknown) => setFailure({ error }),
      );
    }, []);
    if (failure !== null) throw failure.error;
    const Loaded = loaded;
    return Loaded === null ? <div aria-busy="true" /> : <Loaded {...props} />;
  };
}
