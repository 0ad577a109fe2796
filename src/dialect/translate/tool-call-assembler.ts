// Determines to which call a fragment belongs. Hosts send an index, or an id in every fragment, or both, or
// index 0 for all calls, or neither with one call after the other. A call is identified by its index and id
// together.

import type { CallFragment } from "./read-chat-message.ts";

/** A call that is being assembled. */
export interface ToolCallDraft {
  readonly kind: "call";
  id: string;
  name: string;
  /** Arguments that have not been written yet. */
  held: string;
  /** Whether its block has been opened. */
  written: boolean;
}

/**
 * Creates a function that returns the call of each fragment of one stream, with id and name from the
 * fragments. It does not append arguments.
 */
export function createCallFinder(): (fragment: CallFragment) => ToolCallDraft {
  /** The latest call with each index. */
  const numbered = new Map<number, ToolCallDraft>();
  const named = new Map<string, ToolCallDraft>();
  let latest: ToolCallDraft | null = null;

  function known({ index, id, name }: CallFragment): ToolCallDraft | undefined {
    const same = id === "" ? undefined : named.get(keyOf(index, id));
    if (same !== undefined) return same;
    if (index !== null) {
      const at = numbered.get(index);
      return at !== undefined && (id === "" || at.id === "") ? at : undefined;
    }
    // A second name begins a second call.
    return latest !== null && id === "" && (name === "" || latest.name === "") ? latest : undefined;
  }

  return (fragment) => {
    const { index, id, name } = fragment;
    const call = known(fragment) ?? { kind: "call", id: "", name: "", held: "", written: false };
    if (call.id === "" && id !== "") {
      call.id = id;
      named.set(keyOf(index, id), call);
    }
    if (call.name === "") call.name = name;
    if (index !== null) numbered.set(index, call);
    latest = call;
    return call;
  };
}

const keyOf = (index: number | null, id: string): string => `${index ?? ""}:${id}`;
