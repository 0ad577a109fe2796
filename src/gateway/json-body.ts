// Parses the JSON of a request body, from which no input gets more than a refusal. It bounds what the parsed value
// costs: its depth, and its number of arrays and objects, each of which takes a hundred times its two characters.

import { JSON_DEPTH_MAX, nestedDeeper } from "../../actors/json-depth.ts";
import { RefusedError } from "../base/errors.ts";
import { hasMoreContainers } from "../dialect/payload/json-containers.ts";

/** Arrays and objects of a body. A request with a hundred thousand tools has less than half of them. */
const CONTAINERS_MAX = 1_000_000;

const NO_JSON = "The body is not valid JSON. Check quotes, commas and brackets.";

const invalid = (message: string): RefusedError => new RefusedError({ code: "invalid_json", message });

/**
 * Parses a JSON body. Throws `RefusedError` `invalid_json`, also for a value that is nested too deeply or has too
 * many arrays and objects.
 */
export function parseJsonBody(text: string): unknown {
  if (hasMoreContainers(text, CONTAINERS_MAX)) {
    throw invalid(`The body has more than ${CONTAINERS_MAX} arrays and objects.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(text.trim() === "" ? "The body is empty: it must be a JSON object." : NO_JSON);
  }
  if (nestedDeeper(value, JSON_DEPTH_MAX)) {
    throw invalid(`The body is nested more than ${JSON_DEPTH_MAX} levels deep.`);
  }
  return value;
}

/** Arrays, objects and names of a body that is always parsed on the event loop: twenty times those of a configuration. */
const NODES_MAX = 100_000;

/** Does the same for a body that no worker reads, whatever its size. */
export function parseBoundedBody(text: string): unknown {
  if (hasMoreContainers(text, NODES_MAX, true)) {
    throw invalid(`The body has more than ${NODES_MAX} arrays, objects and fields.`);
  }
  return parseJsonBody(text);
}
