// Addresses that hold their own content: `data:image/png;base64,…`. Looks at their first bytes alone, however long they are.

/** A longer head is no media type. */
const HEAD_LENGTH_MAX = 200;

export interface InlineData {
  /** In small letters, without parameters. */
  readonly mediaType: string;
  /** Base64, as it came. */
  readonly data: string;
}

/** What a data URL holds; null when it is none, or not base64. */
export function dataOf(url: string): InlineData | null {
  const head = /^data:([^,]*),/i.exec(url.slice(0, HEAD_LENGTH_MAX));
  if (head === null) return null;
  const [mediaType = "", ...parameters] = head[1]!.toLowerCase().split(";");
  if (parameters.at(-1)?.trim() !== "base64") return null;
  return { mediaType: mediaType.trim(), data: url.slice(head[0].length) };
}

/** How the base64 of each kind of picture begins. */
const BEGINNINGS: readonly (readonly [beginning: string, mediaType: string])[] = [
  ["/9j/", "image/jpeg"],
  ["iVBORw0KGgo", "image/png"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
];

const IMAGE_TYPES: ReadonlyMap<string, string> = new Map([
  ...BEGINNINGS.map(([, mediaType]) => [mediaType, mediaType] as const),
  ["image/jpg", "image/jpeg"],
]);

/** A picture's type as its bytes say, else as it is called; null: none that a provider takes. */
export function imageTypeOf(called: string, base64: string): string | null {
  if (base64 === "") return null;
  const seen = BEGINNINGS.find(([beginning]) => base64.startsWith(beginning));
  return seen?.[1] ?? IMAGE_TYPES.get(called) ?? null;
}
