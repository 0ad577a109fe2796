// The exchange of `GET` and `DELETE` of a response that a provider stores: a request without a body, whose answer
// passes unchanged but for the name of its model. Nothing of it is metered.

import type {
  ModelAlias,
  ModelNaming,
  StreamMachine,
  WholeAnswer,
  WholeBody,
} from "../../dialect/dialect.ts";
import { isObject, type Json, parseJson } from "../../dialect/json.ts";
import { aliasOf, underOwnName } from "../../dialect/model-alias.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { EncodedRequest, ProviderExchange, StoredResponseOrigin } from "./provider-codec.ts";

/** The exchange of one request for a stored response. */
export class StoredResponseExchange implements ProviderExchange {
  readonly usage = "chat";
  readonly closing = new Uint8Array(0);
  readonly sentModel: string;
  readonly origin: StoredResponseOrigin;
  private readonly alias: ModelAlias | null;

  /** `model` is the one that the response was created with. */
  constructor(
    readonly path: string,
    readonly outgoing: EncodedRequest,
    model: string,
    naming: ModelNaming,
  ) {
    this.origin = { kind: "stored", model, naming };
    this.sentModel = naming.model ?? model;
    this.alias = aliasOf(naming, model);
  }

  readAnswer({ text }: WholeBody): WholeAnswer {
    const body = parseJson(text);
    if (!isObject(body)) return { ok: false, fault: "server_error" };
    return { ok: true, body, usage: null, serviceTier: null, texts: [], measured: {} };
  }

  clientText(text: string, body: Json | null): string {
    return body === null ? text : underOwnName(text, body, this.alias);
  }

  stream(): StreamMachine {
    throw new Error("a stored response is not streamed");
  }

  translateFailure(signal: UpstreamFailure): UpstreamFailure {
    return signal;
  }
}
