// Which call a fragment belongs to. Hosts number calls, or name them in every fragment, or both, or number all of them 0, or
// do neither and send one after the other; a call is known by its number and its id together.

import type { CallFragment } from "./read-chat-message.ts";

/** A call as far as it has come. */
export interface ToolCallDraft {
  readonly kind: "call";
  id: string;
  name: string;
  /** Arguments that have not been written yet. */
  held: string;
  /** Its block has been opened, and closed unless it is the open one. */
  written: boolean;
}

/** The call of each fragment, its id and name filled in where the fragment says them first. Adds no arguments. */
export function createCallFinder(): (fragment: CallFragment) => ToolCallDraft {
  /** The latest call of a number. */
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
