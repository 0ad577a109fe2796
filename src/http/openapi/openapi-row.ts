// What is said of one endpoint beyond what its handler checks. Pure data: the document is put together elsewhere.

import type { TObject, TSchema } from "@sinclair/typebox";
import type { Content } from "../operation.ts";

export type Tag = "Gateway" | "Accounts" | "Dashboard" | "Administration" | "Machines";

/** How the caller shows who it is: `both` takes the key as `x-api-key` too. */
export type SecurityKind = "none" | "bearer" | "both";

export interface EndpointDoc {
  readonly tag: Tag;
  /** An imperative of a few words. */
  readonly summary: string;
  /** Markdown: what one has to know to use it. */
  readonly description?: string;
  /** What each part of the path and each parameter of the query is. */
  readonly params?: Readonly<Record<string, string>>;
  /** The body, where the handler reads it by other means than a schema. */
  readonly body?: TSchema;
  /** The fields and files of a form, where one is taken instead of JSON, or beside it. */
  readonly form?: TSchema;
  /** Who may ask, where the handler does not tell by itself; absent: what it tells, else nobody has to be known. */
  readonly keys?: SecurityKind;
  /** The query, where the handler reads it by other means than a schema. */
  readonly query?: TObject;
  /** A body that works, as JSON. */
  readonly asked?: unknown;
  /** Headers that a request may carry, by name: what they do. */
  readonly sent?: Readonly<Record<string, string>>;
  readonly answers: Content;
  /** An answer to it, as JSON. */
  readonly answered?: unknown;
  /** Headers of a good answer, by name: what they say. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A request that goes through to a provider, whose own refusals come back. */
  readonly passes?: true;
  /** Codes of refusals beyond those that follow from who may call it and what it takes. */
  readonly refuses?: readonly string[];
  /** Answers that are neither good nor an error body. */
  readonly besides?: Readonly<Record<number, { readonly description: string; readonly content?: Content }>>;
}

/** Rows by "METHOD /path", as the routes have them. */
export type Rows = Readonly<Record<string, EndpointDoc>>;

export const json = (schema: TSchema): Content => ({ "application/json": schema });
