// The document of the service as a judge: does an answer, or an example, fit what is promised for its endpoint and status?
// It reads the document as a client would, and is stricter: a field that is not promised does not fit.

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Json } from "../e2e/harness.ts";
import type { Recorded } from "../e2e/recorded.ts";

export interface Promised {
  /** All operations, with their method in capitals and their place in the document. */
  readonly operations: readonly Operation[];
  /** What is wrong with an answer; null: nothing. */
  fault(answer: Recorded): string | null;
  /** What is wrong with a value for the schema at a place in the document; null: nothing. */
  faultAt(pointer: string, value: unknown): string | null;
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly pointer: string;
  readonly body: Json;
}

const FORMATS = {
  "date-time": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  date: /^\d{4}-\d\d-\d\d$/,
  binary: true,
} as const;

export function promisedBy(document: Json): Promised {
  const ajv = new Ajv2020({ strict: false, allErrors: true, verbose: true, formats: FORMATS });
  ajv.addSchema(closed(document), "document");
  const compiled = new Map<string, ValidateFunction>();

  const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, body]) => ({
      method: method.toUpperCase(),
      path,
      pointer: `#/paths/${escaped(path)}/${method}`,
      body,
    })),
  );
  // The path with the fewest open parts is the one meant, and of several the one that says most.
  const places = operations
    .map((operation) => ({ operation, pattern: patternOf(operation.path) }))
    .sort(
      ({ operation: a }, { operation: b }) =>
        openParts(a.path) - openParts(b.path) || b.path.length - a.path.length,
    );

  const faultAt = (pointer: string, value: unknown): string | null => {
    let validate = compiled.get(pointer);
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `document${pointer}` });
      compiled.set(pointer, validate);
    }
    if (validate(value)) return null;
    return (validate.errors ?? [])
      .map(
        ({ instancePath, message, params, data }) =>
          `${instancePath} ${message} ${JSON.stringify(params)}, is ${JSON.stringify(data)?.slice(0, 80)}`,
      )
      .join("; ");
  };

  return {
    operations,
    faultAt,
    fault({ method, path, status, type, text }) {
      // Whatever answers GET answers HEAD, without the body.
      if (method === "HEAD") return null;
      const found = places.find(
        ({ operation, pattern }) => operation.method === method && pattern.test(path),
      );
      if (found === undefined) {
        return [400, 404, 405].includes(status) ? null : `answered ${status} to what no document knows`;
      }
      const { body, pointer } = found.operation;
      const response = body.responses[status];
      // A listener does not have what is for the administration's alone.
      if (response === undefined && status === 404 && text.includes("There is nothing at /")) return null;
      if (response === undefined) return `has no status ${status}: ${text.slice(0, 200)}`;
      if (response.content === undefined) return text === "" ? null : `promises no body with ${status}`;
      if (type === null || response.content[type] === undefined) return `promises no ${type} with ${status}`;
      const value = type === "application/json" ? parsed(text) : text;
      return faultAt(`${pointer}/responses/${status}/content/${escaped(type)}/schema`, value);
    },
  };
}

/** What is wrong with each of these answers that does not fit. */
export const faultsOf = (promised: Promised, answers: readonly Recorded[]): string[] =>
  answers.flatMap((answer) => {
    const fault = promised.fault(answer);
    return fault === null ? [] : [`${answer.method} ${answer.path} ${answer.status}: ${fault}`];
  });

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const escaped = (part: string): string =>
  encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));

const openParts = (path: string): number => path.split("{").length - 1;

/** The last open part of a model's path may hold slashes. */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replaceAll(".", "\\.")
      .replace(/\{(model|page)\}$/, ".+")
      .replaceAll(/\{\w+\}/g, "[^/]+")}$`,
  );

/** The same document, whose objects have no other fields than they name, unless they say so. */
function closed(value: Json): Json {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isObject = value.type === "object" && typeof value.properties === "object";
  return isObject && value.additionalProperties === undefined
    ? { ...copy, additionalProperties: false }
    : copy;
}
