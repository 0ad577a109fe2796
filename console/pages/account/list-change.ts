// Lists of an account, such as the models that it may call: what typed items make of a list, and the text by which
// `PUT /x-users/{id}` makes it so (contract section 3). The service judges the items.

/** The lists that an account has. An empty one allows everything. */
export type ListField = "AllowModels" | "AllowIPs" | "AllowLevels" | "Resources";

/** The lists in the order of the page. */
export const LIST_FIELDS: readonly ListField[] = ["AllowModels", "Resources", "AllowLevels", "AllowIPs"];

/** Returns the items of a text; spaces and commas separate them. */
export const itemsOf = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((item) => item !== "");

/**
 * Returns a list after what was typed. Each item is added; `*` empties a list, which allows everything; where `-item` cannot be an
 * item itself, as a negative Level could, it takes one away.
 */
export function withTyped(field: ListField, list: readonly string[], typed: string): readonly string[] {
  const next = new Set(list);
  for (const item of itemsOf(typed.normalize("NFKC"))) {
    if (item === "*") next.clear();
    else if (field !== "AllowLevels" && item.startsWith("-")) next.delete(item.slice(1));
    else next.add(item);
  }
  return [...next];
}

/** Returns a list without an item. */
export const without = (list: readonly string[], item: string): readonly string[] =>
  list.filter((one) => one !== item);

/** What a change adds to a list and takes away from it. */
export interface ListChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Returns the difference between two lists. */
export const listChange = (before: readonly string[], after: readonly string[]): ListChange => ({
  added: after.filter((item) => !before.includes(item)),
  removed: before.filter((item) => !after.includes(item)),
});

/**
 * Returns a list with a change applied. A form keeps changes and not whole lists, so that what others add or take away meanwhile
 * stays as they made it.
 */
export const withChange = (list: readonly string[], { added, removed }: ListChange): readonly string[] => [
  ...list.filter((item) => !removed.includes(item)),
  ...added.filter((item) => !list.includes(item)),
];

/**
 * Returns the text that makes `after` of `before`, or null where they are the same. AllowModels is changed item by item, what is
 * new first, because its last pattern cannot be taken away; the other lists are replaced.
 */
export function changeText(
  field: ListField,
  before: readonly string[],
  after: readonly string[],
): string | null {
  const { added, removed } = listChange(before, after);
  if (added.length === 0 && removed.length === 0) return null;
  if (field !== "AllowModels") return after.join(",");
  if (after.length === 0) return "*";
  return [...added, ...removed.map((item) => `-${item}`)].join(",");
}
