// The contract of a request body that is read once and passed on with a few top-level fields changed and
// every other byte unchanged. Here there are three implementations: JSON as text, large JSON as bytes, and multipart forms; the
// gateway has those that keep no value (outlined-payload.ts). A payload must not validate fields; dialects do.

/**
 * A file of a form. `bytes` is a view, never a copy; an edit may move them, so read the property again after
 * one.
 */
export interface FormFile {
  /** The name of the form field, such as `file` or `image[]`. */
  readonly field: string;
  readonly fileName: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** New values by top-level field; null removes the field. */
export type FieldEdits = Readonly<
  Record<string, string | number | boolean | Readonly<Record<string, unknown>> | null>
>;

/** The path to a value of the body: field names and array indexes. */
export type JsonPath = readonly (string | number)[];

/** A field to be set in an object of the body; the path leads to the object. */
export interface FieldInsertion {
  readonly at: JsonPath;
  readonly field: string;
  readonly value: unknown;
}

/** A request body. */
export interface Payload {
  /**
   * The JSON value, or the text fields of a form as an object of strings, where several with one name are a
   * list. In a large body a long base64 string, alone or in a data URL, may be shortened to its beginning;
   * `lengthOf` returns its real length. All other text is complete.
   */
  readonly value: unknown;
  /** Returns the text of a string in `value` that has a character for each byte; undefined where all strings are text. */
  readonly textOf?: ((string: string) => string) | undefined;
  readonly files: readonly FormFile[];
  /** Returns the UTF-8 bytes of a string in `value`, including those that were left out; never too few. */
  lengthOf(text: string): number;
  /** Whether the body may contain a text such as `"1h"`. False is certain, true is not. */
  mentions(text: string): boolean;
  /** The `content-type` of the result of `edited`. */
  readonly contentType: string;
  /**
   * Returns the original body with these edits, without those of an earlier call. JSON that repeats a
   * top-level field is serialized again, so that it means the same to the gateway and the provider; an edited
   * form field occurs once. The next call may change the bytes that an earlier one returned.
   */
  edited(edits: FieldEdits): string | Uint8Array;
  /** Returns the body without these array elements, every other character unchanged; a form has none. */
  without(places: readonly JsonPath[]): Payload;
  /**
   * Returns the body with these fields set, at most one in an object and in no object inside another one that is meant;
   * every other character is unchanged. A form has no such objects.
   */
  withFields(insertions: readonly FieldInsertion[]): Payload;
  /** Returns the complete JSON value, for a translation. Returns null for a form. */
  whole(): unknown;
  /**
   * Returns the SHA-256 of `prefix` and the original body in hex. For a form it covers the parts and not the
   * bytes, because a client that repeats a form uses another boundary.
   */
  hash(prefix: string): string;
}
