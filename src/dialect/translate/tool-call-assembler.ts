// Determines to which call a fragment belongs. Hosts send an index, or an id in every fragment, or both, or
// index 0 for all calls, or neither with one call after the other. A call is identified by its index and id
// together.

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
  #latest: ToolCallDraft | null = null;

  /** Returns the call of a fragment, with all but the arguments from its fragments. */
  callOf(fragment: CallFragment): ToolCallDraft {
    const { index, id, name, extra } = fragment;
    const call = this.#known(fragment) ?? callDraft("", "");
    if (call.id === "" && id !== "") {
      call.id = id;
      this.#byId.set(keyOf(index, id), call);
    }
    if (call.name === "") call.name = name;
    if (extra !== undefined) call.extra = extra;
    if (index !== null) this.#byIndex.set(index, call);
    this.#latest = call;
    return call;
  }

  #known({ index, id, name }: CallFragment): ToolCallDraft | undefined {
    const same = id === "" ? undefined : this.#byId.get(keyOf(index, id));
    if (same !== undefined) return same;
    if (index !== null) {
      const call = this.#byIndex.get(index);
      return call !== undefined && (id === "" || call.id === "") ? call : undefined;
    }
    // A second name begins a second call.
    const latest = this.#latest;
    return latest !== null && id === "" && (name === "" || latest.name === "") ? latest : undefined;
  }
}

const keyOf = (index: number | null, id: string): string => `${index ?? ""}:${id}`;
