// Rules for texts that people write: e-mail addresses, visible words, names. Control, direction and zero-width characters are
// refused, because they make different texts look alike; those that are part of an emoji are allowed.

import { FormatRegistry } from "@sinclair/typebox";
import { codePoints } from "../../actors/code-points.ts";
import { characters } from "./text-schema.ts";

/** The HTML standard's rule for `<input type=email>`. */
const EMAIL =
  "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$";
const EMAIL_LENGTH_MAX = 254;

/** Returns the schema of an e-mail address. `what` is how an error names it. */
export const email = (what = "an e-mail address") =>
  characters({ maxLength: EMAIL_LENGTH_MAX, pattern: EMAIL, description: `must be ${what}` });

/** The schema of an e-mail address that may be empty. */
export const emailOrNone = characters({
  maxLength: EMAIL_LENGTH_MAX,
  pattern: `^$|${EMAIL}`,
  description: "must be an e-mail address, or empty for none",
});

/** Characters that are never visible: controls, line separators, direction marks, and those without width or glyph. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u{FFF9}-\u{FFFB}]/u;

/** An emoji joined of several, or a flag made of tags: its joiners and tags are part of what is visible. */
const JOINED_EMOJI =
  /\p{Extended_Pictographic}(?:\u{FE0F}|\p{Emoji_Modifier})?(?:\u{200D}\p{Extended_Pictographic}(?:\u{FE0F}|\p{Emoji_Modifier})?)+|\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{2,6}\u{E007F}/gu;

/** A character with one variation selector, which chooses its glyph. */
const CHOSEN_GLYPH = /([^\p{Variation_Selector}\s])\p{Variation_Selector}/gu;

const isVisible = (text: string): boolean =>
  !HIDDEN.test(text.replace(JOINED_EMOJI, "-").replace(CHOSEN_GLYPH, "$1"));

const LINE_BREAK = /\r?\n/g;

FormatRegistry.Set("visible-text", isVisible);
FormatRegistry.Set("visible-lines", (text) => isVisible(text.replace(LINE_BREAK, " ")));

const VISIBLE = "without control, direction or zero-width characters";

const lengthOf = (most: number, least: number): string =>
  `${least === 0 ? "at most" : `${least} to`} ${most} characters`;

/** Returns the schema of a visible text on one line. */
export const visibleText = (most: number) =>
  characters({
    maxLength: most,
    format: "visible-text",
    description: `must be a text of ${lengthOf(most, 0)}, ${VISIBLE}`,
  });

/** Returns the schema of a visible text that is not only spaces; with `lines` it may have several lines. */
export const words = (most: number, lines: "one line" | "lines") =>
  characters({
    minLength: 1,
    maxLength: most,
    pattern: "\\S",
    format: lines === "lines" ? "visible-lines" : "visible-text",
    description:
      `must be a text of ${lengthOf(most, 1)}, not of spaces alone, ${VISIBLE}` +
      (lines === "lines" ? "; line breaks are allowed" : ""),
  });

/** Returns the text with every line break as one line feed. */
export const withLineFeeds = (text: string): string => text.replace(LINE_BREAK, "\n");

/** Characters that an account's name must not have, because names must differ visibly; joined emoji are among them. */
const UNFIT_FOR_NAMES = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

/** Returns the rule that the name of a new account breaks, or null. A name must not look like another identifier. */
export function unfitName(name: string): string | null {
  if (UNFIT_FOR_NAMES.test(name)) {
    return "must have visible characters only: no controls, direction marks, joiners or other zero-width characters";
  }
  const length = codePoints(name);
  if (length < NAME_LENGTH_MIN || length > NAME_LENGTH_MAX) return NAME_LENGTH;
  if (name.trim() !== name) return "must not begin or end with a space";
  if (!/\p{L}/u.test(name)) return "must have at least one letter";
  if (/[@/]/.test(name) || name.startsWith(".") || /^[LGRTF][0-9.]+$/.test(name)) {
    return "must not look like an id, an e-mail address, a DNA or a filter such as L2";
  }
  return null;
}

const NAME_LENGTH_MIN = 4;
const NAME_LENGTH_MAX = 63;
const NAME_LENGTH = `must have ${NAME_LENGTH_MIN} to ${NAME_LENGTH_MAX} characters`;

/** The schema of an account's name; `unfitName` has its other rules. */
export const nameText = characters({
  minLength: NAME_LENGTH_MIN,
  maxLength: NAME_LENGTH_MAX,
  description: NAME_LENGTH,
});
