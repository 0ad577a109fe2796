// Random JSON bodies as hostile or careless clients write them: white space anywhere, escapes where none are needed, numbers
// in every spelling, nesting, braces and quotes inside strings.

import fc from "fast-check";

export const space = fc.constantFrom("", "", "", " ", "\n", "\t", "\r\n", "  \n ");
const number = fc.constantFrom("0", "-0", "1.0", "1e3", "1E-2", "-12.50", "123456789012345678901", "3");

/** A character of a string, in one of its spellings. */
const letter = fc.oneof(
  fc.constantFrom("a", "Z", "0", " ", "{", "}", "[", "]", ":", ",", "é", "漢", "😀", "/", "'", "1h"),
  fc.constantFrom('\\"', "\\\\", "\\/", "\\n", "\\t", "\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\u0022"),
);
const words = fc.array(letter, { maxLength: 8 }).map((all) => all.join(""));
export const string = words.map((inner) => `"${inner}"`);
const longBase64 = fc
  .tuple(
    fc.constantFrom(
      "",
      "data:image/png;base64,",
      "data:image\\/png;base64,",
      "data:;base64,",
      "data:text/plain,",
    ),
    fc.integer({ min: 3_900, max: 9_000 }),
    fc.constantFrom("A", "ab+/", "Q\\/", "x\\n", "9==", "a b", "é", "\\u0041"),
  )
  .map(([head, length, unit]) => `"${head}${unit.repeat(Math.ceil(length / unit.length))}"`);

export const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(string, number, fc.constantFrom("true", "false", "null"), longBase64),
    tie("list"),
    tie("object"),
  ),
  list: fc
    .tuple(space, fc.array(fc.tuple(space, tie("value"), space), { maxLength: 3 }))
    .map(
      ([empty, items]) => `[${items.length === 0 ? empty : items.map((item) => item.join("")).join(",")}]`,
    ),
  object: fc
    .tuple(space, fc.array(fc.tuple(space, string, space, space, tie("value"), space), { maxLength: 3 }))
    .map(([empty, items]) => `{${items.length === 0 ? empty : items.map(pair).join(",")}}`),
}));

const pair = ([a, name, b, c, inner, d]: readonly string[]): string => `${a}${name}${b}:${c}${inner}${d}`;

/** Names that edits speak of, spelt plainly and otherwise, beside others. */
const name = fc.oneof(
  fc.constantFrom(
    '"model"',
    '"mod\\u0065l"',
    '"n"',
    '"stream"',
    '"stream_options"',
    '"__proto__"',
    '""',
    '"é"',
  ),
  string,
);

/** An object; names may come twice. */
export const bodies: fc.Arbitrary<string> = fc
  .tuple(space, space, fc.array(fc.tuple(space, name, space, space, value, space), { maxLength: 7 }), space)
  .map(([a, empty, items, b]) => `${a}{${items.length === 0 ? empty : items.map(pair).join(",")}}${b}`);

export const edits = fc.dictionary(
  fc.constantFrom("model", "n", "stream", "stream_options", "fresh", "ünew"),
  fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.integer(),
    fc.string({ unit: "binary" }),
    fc.record({ include_usage: fc.boolean() }),
  ),
);

/** Whether a top-level name comes twice, by the bare text: what the fields must be found out to be. */
export function namesOf(text: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let isName = false;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]/gs)) {
    if (token === "{" || token === "[") {
      depth++;
      isName = depth === 1;
    } else if (token === "}" || token === "]") depth--;
    else if (token === "," && depth === 1) isName = true;
    else if (token.startsWith('"') && isName && depth === 1) {
      names.push(JSON.parse(token));
      isName = false;
    }
  }
  return names;
}
