// Reads data URLs such as `data:image/png;base64,…`. Only their first bytes are examined.

/** Limit of the head; no media type is longer. */
const HEAD_LENGTH_MAX = 200;

/** The content of a data URL. */
export interface InlineData {
  /** The media type in lower case, without parameters. */
  readonly mediaType: string;
  /** The base64 text, unchanged. */
  readonly data: string;
}

/** Returns the content of a data URL, or null when the text is not a data URL in base64. */
export function dataOf(url: string): InlineData | null {
  const head = /^data:([^,]*),/i.exec(url.slice(0, HEAD_LENGTH_MAX));
  if (head === null) return null;
  const [mediaType = "", ...parameters] = head[1]!.toLowerCase().split(";");
  if (parameters.at(-1)?.trim() !== "base64") return null;
  return { mediaType: mediaType.trim(), data: url.slice(head[0].length) };
}

/** The first characters of the base64 of each image type. */
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

/**
 * Returns an image's type by its bytes, otherwise `called`. Returns null for a type that providers do not
 * accept.
 */
export function imageTypeOf(called: string, base64: string): string | null {
  if (base64 === "") return null;
  const seen = BEGINNINGS.find(([beginning]) => base64.startsWith(beginning));
  return seen?.[1] ?? IMAGE_TYPES.get(called) ?? null;
}
