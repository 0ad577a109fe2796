// Text that follows a JSON schema: one value that fits it, made of what was said. Deterministic, and small on purpose.

/** How deep a schema is followed; below it everything is null. */
const DEPTH_MAX = 8;

interface Schema {
  readonly type?: unknown;
  readonly properties?: unknown;
  readonly items?: unknown;
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly anyOf?: unknown;
}

/** The schema of a request's format; nothing where it asks for plain text. Any object will do for `json_object`. */
export function schemaAsked(format: unknown): { readonly schema?: object } {
  if (!isRecord(format)) return {};
  if (format.type === "json_object") return { schema: { type: "object" } };
  return format.type === "json_schema" && isRecord(format.schema) ? { schema: format.schema } : {};
}

/** The text in pieces, one a token; the first begins with a space, as the words of an answer do. */
export function jsonWords(schema: object, said: string): string[] {
  const text = JSON.stringify(instanceOf(schema, said, 0));
  return (text.match(/.{1,8}/gsu) ?? []).map((piece, nth) => (nth === 0 ? ` ${piece}` : piece));
}

const SIMPLE: Readonly<Record<string, (said: string) => unknown>> = {
  string: (said) => said,
  integer: (said) => said.length,
  number: (said) => said.length + 0.5,
  boolean: () => true,
  null: () => null,
};

function instanceOf(schema: Schema, said: string, depth: number): unknown {
  if (depth > DEPTH_MAX) return null;
  const inner = (one: unknown) => instanceOf(isRecord(one) ? one : {}, said, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (Array.isArray(schema.anyOf)) return inner(schema.anyOf[0]);
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === "array") return [inner(schema.items)];
  if (isRecord(schema.properties)) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, inner(one)]));
  }
  const simple = SIMPLE[String(type)];
  return simple === undefined ? { text: said } : simple(said);
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
