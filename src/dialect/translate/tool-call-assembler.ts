// Determines to which call a fragment belongs. Hosts send an index, or an id in every fragment, or both, or
// index 0 for all calls, or either in some fragments alone, or neither with one call after the other. A call is identified
// by its index and id together, as far as its fragments have both.

import type { ToolCallDraft } from "./answer.ts";
import type { CallFragment } from "./read-chat-message.ts";

/** Returns a call of which nothing has been written. */
export const callDraft = (id: string, name: string): ToolCallDraft => ({
  ...{ kind: "call", id, name },
  ...{ held: "", written: false, ended: false },
});

/** Finds the calls of one stream. */
export class CallFinder {
  /** The latest call with each index. */
  readonly #byIndex = new Map<number, ToolCallDraft>();
  readonly #byId = new Map<string, ToolCallDraft>();
  /** Calls of which no fragment has had an index. */
  readonly #unindexed = new Set<ToolCallDraft>();
  #latest: ToolCallDraft | null = null;

  /** Returns the call of a fragment, with all but the arguments from its fragments. */
  callOf(fragment: CallFragment): ToolCallDraft {
    const { index, id, name, extra } = fragment;
    const known = this.#known(fragment);
    const call = known ?? callDraft("", "");
    if (call.id === "" && id !== "") call.id = id;
    if (call.id !== "") {
      this.#byId.set(keyOf(index, call.id), call);
      // A later fragment may have the id alone.
      this.#byId.set(keyOf(null, call.id), call);
    }
    if (index !== null) this.#unindexed.delete(call);
    else if (known === undefined) this.#unindexed.add(call);
    if (call.name === "") call.name = name;
    if (extra !== undefined) call.extra = extra;
    if (index !== null) this.#byIndex.set(index, call);
    this.#latest = call;
    return call;
  }

  #known({ index, id, name }: CallFragment): ToolCallDraft | undefined {
    const same = id === "" ? undefined : (this.#byId.get(keyOf(index, id)) ?? this.#unindexedBy(id));
    if (same !== undefined) return same;
    const latest = this.#latest;
    if (index !== null) {
      const call = this.#byIndex.get(index);
      if (call !== undefined) return id === "" || call.id === "" ? call : undefined;
      const goesOn = latest !== null && id === "" && name === "" && this.#unindexed.has(latest);
      return goesOn ? latest : undefined;
    }
    // A second name begins a second call.
    return latest !== null && id === "" && (name === "" || latest.name === "") ? latest : undefined;
  }

  /** Returns the call with an id whose fragments had no index so far: the fragment that asks is the first with one. */
  #unindexedBy(id: string): ToolCallDraft | undefined {
    const call = this.#byId.get(keyOf(null, id));
    return call !== undefined && this.#unindexed.has(call) ? call : undefined;
  }
}

const keyOf = (index: number | null, id: string): string => `${index ?? ""}:${id}`;
