// Every field of the request types that the SDKs know has a verdict. A newer SDK with a field that nobody has judged makes
// this fail: read what the field does, and say so in src/dialect/field-verdicts.ts.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CONTENT_FIELDS, TOOL_FIELDS, TOOL_TYPES, TOP_LEVEL } from "../../src/dialect/field-verdicts.ts";

const MODULES = join(import.meta.dir, "../../node_modules");

/** The declarations of one file of types: interfaces and aliases by name, those in namespaces under their last name. */
class Declarations {
  readonly #bodies = new Map<string, string[]>();
  readonly #bases = new Map<string, string[]>();
  readonly #aliases = new Map<string, string>();

  constructor(path: string) {
    const text = readFileSync(join(MODULES, path), "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    for (const found of text.matchAll(/\binterface (\w+)(?:<[^{]*>)?(?: extends ([^{]+))? \{/g)) {
      const body = this.#within(text, found.index + found[0].length);
      const [, name = "", bases = ""] = found;
      this.#bodies.set(name, [...(this.#bodies.get(name) ?? []), body]);
      this.#bases.set(name, [...(this.#bases.get(name) ?? []), ...bases.split(",").map(last)]);
    }
    for (const [, name, type] of text.matchAll(/\btype (\w+) = ([^;]+);/g)) this.#aliases.set(name!, type!);
  }

  /** Up to the brace that closes what is open at `from`. */
  #within(text: string, from: number): string {
    let depth = 1;
    let at = from;
    for (; depth > 0 && at < text.length; at++) {
      if (text[at] === "{") depth++;
      else if (text[at] === "}") depth--;
    }
    return text.slice(from, at - 1);
  }

  /** Names of interfaces that a type is made of, through aliases of this file. */
  membersOf(name: string, seen = new Set<string>()): string[] {
    if (seen.has(name)) return [];
    seen.add(name);
    const type = this.#aliases.get(name);
    if (type === undefined) return this.#bodies.has(name) ? [name] : [];
    return [...type.matchAll(/[\w.]+/g)].flatMap(([part]) => this.membersOf(last(part), seen));
  }

  /** The fields of a type at its first level, those of its bases included. */
  fieldsOf(name: string): string[] {
    return this.membersOf(name).flatMap((member) => [
      ...this.#bodies.get(member)!.flatMap(fieldsIn),
      ...(this.#bases.get(member) ?? [])
        .filter((base) => base !== "" && base !== name)
        .flatMap((b) => this.fieldsOf(b)),
    ]);
  }

  /** The words that stand for `type` in the interfaces of a type. */
  typesOf(name: string): string[] {
    const bodies = this.membersOf(name).flatMap((member) => this.#bodies.get(member)!);
    return bodies.flatMap((body) =>
      [...body.matchAll(/^ {4,8}type\??: ([^;]+);/gm)].flatMap(([, words]) =>
        [...words!.matchAll(/'([\w.]+)'/g)].map(([, word]) => word!),
      ),
    );
  }
}

const last = (name: string): string =>
  name.trim().split(/[.<]/).filter(Boolean).at(-1)?.replace(/\W/g, "") ?? "";

/** Fields at the first level of an interface's body. */
function fieldsIn(body: string): string[] {
  const fields: string[] = [];
  let depth = 0;
  for (const line of body.split("\n")) {
    const [, field] = /^\s*(\w+)\??:/.exec(line) ?? [];
    if (depth === 0 && field !== undefined) fields.push(field);
    depth += (line.match(/\{/g) ?? []).length - (line.match(/\}/g) ?? []).length;
  }
  return fields;
}

const OPENAI = "openai/resources";
const ANTHROPIC = "@anthropic-ai/sdk/resources";
const CHAT = `${OPENAI}/chat/completions/completions.d.ts`;
const RESPONSES = `${OPENAI}/responses/responses.d.ts`;
const BETA_RESPONSES = `${OPENAI}/beta/responses/responses.d.ts`;
const MESSAGES = `${ANTHROPIC}/messages/messages.d.ts`;
const BETA_MESSAGES = `${ANTHROPIC}/beta/messages/messages.d.ts`;

const REQUESTS: readonly (readonly [file: string, type: string])[] = [
  [CHAT, "ChatCompletionCreateParamsBase"],
  [RESPONSES, "ResponseCreateParamsBase"],
  [BETA_RESPONSES, "ResponseCreateParamsBase"],
  [MESSAGES, "MessageCreateParamsBase"],
  [MESSAGES, "MessageCountTokensParams"],
  [BETA_MESSAGES, "MessageCreateParamsBase"],
  [BETA_MESSAGES, "MessageCountTokensParams"],
  [`${OPENAI}/completions.d.ts`, "CompletionCreateParamsBase"],
  [`${OPENAI}/embeddings.d.ts`, "EmbeddingCreateParams"],
  [`${OPENAI}/moderations.d.ts`, "ModerationCreateParams"],
  [`${OPENAI}/images.d.ts`, "ImageGenerateParamsBase"],
  [`${OPENAI}/images.d.ts`, "ImageEditParamsBase"],
  [`${OPENAI}/images.d.ts`, "ImageCreateVariationParams"],
  [`${OPENAI}/audio/speech.d.ts`, "SpeechCreateParams"],
  [`${OPENAI}/audio/transcriptions.d.ts`, "TranscriptionCreateParamsBase"],
  [`${OPENAI}/audio/translations.d.ts`, "TranslationCreateParams"],
];

describe("each field of a request has a verdict", () => {
  test.each(REQUESTS)("%s %s", (file, type) => {
    const fields = new Declarations(file).fieldsOf(type);
    expect(fields.length).toBeGreaterThan(1);
    expect(fields.filter((field) => !Object.hasOwn(TOP_LEVEL, field))).toEqual([]);
  });
});

const TOOLS: readonly (readonly [file: string, type: string])[] = [
  [CHAT, "ChatCompletionTool"],
  [RESPONSES, "Tool"],
  [BETA_RESPONSES, "BetaTool"],
  [MESSAGES, "ToolUnion"],
  [BETA_MESSAGES, "BetaToolUnion"],
];
/** Names of the responses style that stand for the same tool as the one without its date. */
const undated = (type: string): string => type.replace(/_(?:\d{8}|\d{4}_\d{2}_\d{2})$/, "");

describe("each tool, and each of its fields, has a verdict", () => {
  test.each(TOOLS)("%s %s", (file, type) => {
    const declared = new Declarations(file);
    const types = declared.typesOf(type).map(undated);
    expect(types.length).toBeGreaterThan(1);
    expect(types.filter((name) => !Object.hasOwn(TOOL_TYPES, name))).toEqual([]);
    expect(declared.fieldsOf(type).filter((field) => !Object.hasOwn(TOOL_FIELDS, field))).toEqual([]);
  });
});

const CONTENT: readonly (readonly [file: string, type: string])[] = [
  [CHAT, "ChatCompletionMessageParam"],
  [CHAT, "ChatCompletionContentPart"],
  [RESPONSES, "ResponseInputContent"],
  [RESPONSES, "ResponseInputItem"],
  [BETA_RESPONSES, "BetaResponseInputItem"],
  [MESSAGES, "ContentBlockParam"],
  [BETA_MESSAGES, "BetaContentBlockParam"],
  [MESSAGES, "MessageParam"],
  [BETA_MESSAGES, "BetaMessageParam"],
];

describe("each field of content has a verdict", () => {
  test.each(CONTENT)("%s %s", (file, type) => {
    const fields = new Declarations(file).fieldsOf(type);
    expect(fields.length).toBeGreaterThan(1);
    expect([...new Set(fields)].filter((field) => !Object.hasOwn(CONTENT_FIELDS, field))).toEqual([]);
  });

  test.each([
    [MESSAGES, /ImageSource|PDFSource|PlainTextSource|ContentBlockSource/],
    [BETA_MESSAGES, /ImageSource|PDFSource|PlainTextSource|ContentBlockSource|DocumentSource/],
  ])("of the sources of %s", (file, names) => {
    const declared = new Declarations(file);
    const text = readFileSync(join(MODULES, file), "utf8");
    const sources = [...text.matchAll(/^export interface (\w+) \{/gm)]
      .map(([, name]) => name!)
      .filter((n) => names.test(n));
    expect(sources.length).toBeGreaterThan(3);
    const fields = sources.flatMap((name) => declared.fieldsOf(name));
    expect([...new Set(fields)].filter((field) => !Object.hasOwn(CONTENT_FIELDS, field))).toEqual([]);
  });
});

test("a field that a newer SDK brings is asked for", () => {
  const [before] = fieldsIn(
    "    model: string;\n    brand_new?: string;\n    nested?: {\n        inner: string;\n    };",
  ).filter((field) => !Object.hasOwn(TOP_LEVEL, field));
  expect(before).toBe("brand_new");
});
