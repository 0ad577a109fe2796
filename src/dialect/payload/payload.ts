// The contract of a request's body: read once as it came, passed on with a few top-level fields changed and every other
// byte as it was. Implementations are siblings: JSON as text, JSON as bytes (large), a form of several parts.
// A payload judges nothing: what a field must be is its dialect's business.

/** A file of a form. Its bytes are looked at where they lie, never copied; an edit may move them, so ask again after one. */
export interface FormFile {
  /** The form's name for it, such as `file` or `image[]`. */
  readonly field: string;
  readonly fileName: string;
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** What is set, by top-level field; null takes the field out. */
export type FieldEdits = Readonly<
  Record<string, string | number | boolean | Readonly<Record<string, unknown>> | null>
>;

/** The way to an element: names of fields and, at the latest as its last step, places in arrays. */
export type JsonPath = readonly (string | number)[];

export interface Payload {
  /**
   * The JSON value, or the text fields of a form as an object of strings (several of one name: a list). In a large body a
   * very long base64 string may stand as its beginning alone; `lengthOf` knows how long it is. Only what is base64
   * throughout, or behind the head of a data URL, is left out: any text is there in full.
   */
  readonly value: unknown;
  readonly files: readonly FormFile[];
  /** UTF-8 bytes of a string inside `value`, those left out included; never too few. */
  lengthOf(text: string): number;
  /** Whether the body says this text anywhere, such as `"1h"`. May be true for a body that does not, never the reverse. */
  mentions(text: string): boolean;
  /** `content-type` of what `edited` gives. */
  readonly contentType: string;
  /**
   * The body as it came with these edits, and none of an earlier call's. JSON that names a top-level field twice is
   * written anew, so that it cannot mean one thing to us and another to the provider; of a form's fields by one name the
   * edit leaves one. What an earlier call gave may be changed by the next one.
   */
  edited(edits: FieldEdits): string | Uint8Array;
  /** The same body without these elements of its arrays, every other character as it came; a form has none. */
  without(places: readonly JsonPath[]): Payload;
  /** All of it as JSON, nothing left out: for a body that is to be translated. Null for a form. */
  whole(): unknown;
  /**
   * SHA-256 of the body as it came, hex, after `prefix`. Of a form: of what its parts are and hold, since a client that sends
   * the same form once more takes another boundary.
   */
  hash(prefix: string): string;
}
