// What the declaration of an endpoint states for the OpenAPI document beside its schemas. Fields of OpenAPI keep their names;
// the others go under `x-` keywords, which the completed document no longer has.

import type { TObject, TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../base/error-codes.ts";
import type { ServedRoute } from "./error-handler.ts";
import type { Access } from "./management.ts";

/** Bodies by media type. */
export type Content = Readonly<Record<string, TSchema>>;

/** A response that is neither the answer nor an error body. */
export interface OtherResponse {
  readonly description: string;
  readonly content?: Content;
}

/** What the author of an endpoint states. Schemas, role and path state the rest. */
export interface Operation {
  readonly tag: "Gateway" | "Accounts" | "Dashboard" | "Administration" | "Machines";
  /** Unique over all endpoints, in lower camel case. */
  readonly operationId: string;
  /** An imperative of a few words. */
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  /** Codes of refusals beyond those that follow from role, path, query and body. */
  readonly errors?: readonly ErrorCode[];
  readonly requestExample?: unknown;
  readonly answerExample?: unknown;
  /** What request headers do, by name. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** What headers of the answer state, by name. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** Further media types of the answer. */
  readonly answerContent?: Content;
  /** Media types of the request beside JSON. */
  readonly requestContent?: Content;
  /** The name of the part of the path that a star stands for. */
  readonly wildcard?: string;
  /** Responses with other statuses. */
  readonly otherResponses?: Readonly<Record<number, OtherResponse>>;
  /** A request that goes through to a provider, whose own refusals come back. */
  readonly isForwarded?: true;
  /** How the caller identifies itself, for an endpoint without `access`; if absent, it need not. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

const EXTRA = "x-operation";

/** What only the completing function reads. */
export type OperationExtra = Omit<Operation, "tag" | "operationId" | "summary" | "description" | "security">;

/** Returns the `detail` of a route. */
export function operation({ tag, operationId, summary, description, security, ...extra }: Operation) {
  return {
    tags: [tag],
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(security === undefined ? {} : { security: security.map((one) => ({ ...one })) as never }),
    [EXTRA]: extra,
  };
}

/** What a route's `detail` has for the document. */
export interface RouteDetail {
  readonly tags?: readonly string[];
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly [EXTRA]?: OperationExtra;
  readonly "x-access"?: Access;
}

/** A route with its schemas, as Elysia lists it. */
export interface DocumentedRoute extends ServedRoute {
  readonly hooks: {
    readonly body?: TSchema;
    readonly params?: TObject;
    readonly query?: TObject;
    readonly response?: TSchema;
    readonly detail?: RouteDetail;
  };
}

/** Headers of a list that comes by pages. With page or size 0 only the first of them. */
export const PAGE_HEADERS = {
  "X-Total-Count": "How many there are in all.",
  "X-Page": "The page that this is.",
  "X-Per-Page": "How many a page holds.",
  "X-Total-Pages": "How many pages there are.",
} as const;
