// Puts a conversation in the order that every provider requires: turns alternate, each call has exactly one
// result in the next turn, and each result has a call. A result without a call becomes text, and a missing
// result is added.

import {
  type AssistantTurn,
  type ContentPart,
  type ConversationTurn,
  isToolCall,
  type SystemTurn,
  type TextPart,
  type ToolCall,
  type ToolResult,
  textPart,
  type UserTurn,
  userTurn,
} from "./conversation.ts";
import { createIds, type IdRules, type Ids } from "./identifiers.ts";

/** Where a provider accepts system messages after the conversation has begun. */
export type LateSystem = "anywhere" | "after_user" | "nowhere";

/** The rules of a provider. */
export interface PairingRules {
  readonly ids: IdRules;
  readonly lateSystem: LateSystem;
}

/**
 * Returns the turns in order. Ids of calls are those that the provider receives, and each result names one.
 */
export function inOrder(
  turns: readonly ConversationTurn[],
  { ids: idRules, lateSystem }: PairingRules,
): ConversationTurn[] {
  const ids = createIds(idRules);
  return roundsOf(turns).flatMap(({ assistants, others }) => {
    const assistant = merged(assistants);
    const { calls, user } = answered(assistant?.parts.filter(isToolCall) ?? [], others, ids);
    const userTurns = SYSTEM[lateSystem](user.filter((turn) => !isEmpty(turn)));
    return assistant === null ? userTurns : [withCalls(assistant, calls), ...userTurns];
  });
}

/** Consecutive turns of the assistant, and all other turns until its next one. */
interface Round {
  readonly assistants: AssistantTurn[];
  readonly others: (UserTurn | SystemTurn)[];
}

function roundsOf(turns: readonly ConversationTurn[]): Round[] {
  const rounds: Round[] = [{ assistants: [], others: [] }];
  for (const turn of turns) {
    if (isEmpty(turn)) continue;
    const last = rounds.at(-1)!;
    if (turn.role !== "assistant") last.others.push(turn);
    else if (last.others.length === 0) last.assistants.push(turn);
    else rounds.push({ assistants: [turn], others: [] });
  }
  return rounds;
}

/** Whether a turn has no content. Thinking alone does not count. */
function isEmpty(turn: ConversationTurn): boolean {
  switch (turn.role) {
    case "system":
      return turn.texts.length === 0;
    case "user":
      return turn.results.length === 0 && turn.parts.length === 0;
    case "assistant":
      return !turn.parts.some(({ kind }) => kind === "text" || kind === "call");
  }
}

function merged(turns: readonly AssistantTurn[]): AssistantTurn | null {
  if (turns.length < 2) return turns[0] ?? null;
  return { role: "assistant", parts: turns.flatMap(({ parts }) => parts) };
}

/** Returns a turn with other calls in the places of its own. */
function withCalls({ role, parts }: AssistantTurn, calls: readonly ToolCall[]): AssistantTurn {
  let next = 0;
  return { role, parts: parts.map((part) => (part.kind === "call" ? calls[next++]! : part)) };
}

interface Answered {
  readonly calls: readonly ToolCall[];
  /** The turns that follow: the first has all results, the others the remaining content in order. */
  readonly user: readonly (UserTurn | SystemTurn)[];
}

function answered(
  requested: readonly ToolCall[],
  others: readonly (UserTurn | SystemTurn)[],
  ids: Ids,
): Answered {
  const calls = requested.map((call) => ({ ...call, id: ids.next(call.id) }));
  const open = openCalls(requested);
  const results: ToolResult[] = [];
  const user: (UserTurn | SystemTurn)[] = [];
  for (const turn of others) {
    if (turn.role === "system") {
      user.push(turn);
      continue;
    }
    const orphans: ToolResult[] = [];
    for (const result of turn.results) {
      const index = open.take(result.of);
      if (index === null) orphans.push(result);
      else results.push({ ...result, of: calls[index]!.id });
    }
    user.push(userTurn([...orphans.flatMap(resultAsText), ...turn.parts]));
  }
  for (const index of open.rest()) {
    results.push({ of: calls[index]!.id, parts: [textPart("no result")], failed: true });
  }
  return { calls, user: [{ role: "user", results, parts: [] }, ...user] };
}

/** Returns a result without a call as text of the user. */
const resultAsText = ({ of, parts }: ToolResult): ContentPart[] => [
  textPart(`Result of ${of === "" ? "a tool" : `the call ${of.slice(0, 100)}`}:`),
  ...parts,
];

/** Tracks which of a turn's calls lack a result, by index. */
function openCalls(calls: readonly ToolCall[]) {
  const open = new Set(calls.keys());
  const byId = new Map<string, number[]>();
  for (const [index, { id }] of calls.entries()) {
    const same = byId.get(id);
    if (same === undefined) byId.set(id, [index]);
    else same.push(index);
  }
  // `pop` takes from the end, so the first call must be last.
  for (const same of byId.values()) same.reverse();

  function indexOf(id: string): number | null {
    if (id === "") return open.values().next().value ?? null;
    const same = byId.get(id) ?? [];
    for (let index = same.pop(); index !== undefined; index = same.pop()) if (open.has(index)) return index;
    return null;
  }

  return {
    /** Returns the index of the call to which a result belongs, or null when none is left. */
    take(id: string): number | null {
      const index = indexOf(id);
      if (index !== null) open.delete(index);
      return index;
    },
    rest: (): Iterable<number> => open,
  };
}

type Said = readonly (UserTurn | SystemTurn)[];

/** Orders the turns of one round, by where the provider accepts system messages. */
const SYSTEM: Readonly<Record<LateSystem, (turns: Said) => ConversationTurn[]>> = {
  anywhere(turns) {
    const out: ConversationTurn[] = [];
    let users: UserTurn[] = [];
    for (const turn of [...turns, null]) {
      if (turn?.role === "user") {
        users.push(turn);
        continue;
      }
      if (users.length > 0) out.push(joined(users));
      users = [];
      if (turn !== null) out.push(turn);
    }
    return out;
  },
  after_user(turns) {
    const last = turns.findLastIndex(({ role }) => role === "user");
    if (last < 0) return SYSTEM.nowhere(turns);
    const texts = turns.slice(last + 1).flatMap((turn) => (turn.role === "system" ? turn.texts : []));
    const user = SYSTEM.nowhere(turns.slice(0, last + 1));
    return texts.length === 0 ? user : [...user, { role: "system", texts }];
  },
  nowhere(turns) {
    return turns.length === 0 ? [] : [joined(turns.map(folded))];
  },
};

const folded = (turn: UserTurn | SystemTurn): UserTurn =>
  turn.role === "user" ? turn : userTurn(turn.texts.map(tagged));

const tagged = (part: TextPart): TextPart => ({ ...part, text: `<system>\n${part.text}\n</system>` });

const joined = (turns: readonly UserTurn[]): UserTurn => ({
  role: "user",
  results: turns.flatMap(({ results }) => results),
  parts: turns.flatMap(({ parts }) => parts),
});
