// Codecs for keys of the other API style: they translate the request on the way to the provider, and the
// answer, its stream and the provider's errors on the way back. Each direction has one row, and what a row
// does not name is not translated. Usage is read as the provider reported it, so that the same answer costs
// the same in either style.

import { chat } from "../../dialect/chat/chat.ts";
import type {
  Dialect,
  ModelNaming,
  ModelRequest,
  StreamMachine,
  StreamOptions,
  WholeAnswer,
  WholeBody,
} from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import { messages } from "../../dialect/messages/messages.ts";
import { messagesAnswerOf } from "../../dialect/translate/chat-to-messages-answer.ts";
import { messagesRequestOf } from "../../dialect/translate/chat-to-messages-request.ts";
import { messagesStreamOf } from "../../dialect/translate/chat-to-messages-stream.ts";
import { chatErrorOf, type ErrorWords, messagesErrorOf } from "../../dialect/translate/error-translation.ts";
import { chatAnswerOf } from "../../dialect/translate/messages-to-chat-answer.ts";
import { chatRequestOf } from "../../dialect/translate/messages-to-chat-request.ts";
import { chatStreamOf } from "../../dialect/translate/messages-to-chat-stream.ts";
import { modelFacts } from "../../dialect/translate/model-capabilities.ts";
import type {
  AnswerContext,
  ModelFacts,
  StreamTranslation,
  TranslatedRequest,
} from "../../dialect/translate/translation.ts";
import type { UsageDialect } from "../../dialect/usage.ts";
import type { UpstreamFailure } from "../../upstream/upstream-failure.ts";
import type { GatewayEndpoint } from "../endpoints.ts";
import { keptPerKey, type ProviderTarget } from "./kept-per-key.ts";
import type {
  EncodedBody,
  EncodedRequest,
  EncodeInput,
  ProviderCodec,
  ProviderExchange,
  RequestOrigin,
} from "./provider-codec.ts";

/** The translation of one client style into the other one. */
interface Translation {
  /** The provider's path and dialect. */
  readonly path: string;
  readonly provider: Dialect;
  readonly headers: Readonly<Record<string, string>>;
  request(body: Json, model: ModelFacts): TranslatedRequest;
  /** Translates a whole answer for the client. */
  answer(body: Json, context: AnswerContext, fingerprint: string): Json;
  readonly stream: StreamTranslation;
  error<E extends ErrorWords>(error: E): E;
}

const JSON_TYPE = { "content-type": "application/json" };

/** Keyed by the client's path. */
const TRANSLATIONS: ReadonlyMap<string, Translation> = new Map<string, Translation>([
  [
    "/v1/chat/completions",
    {
      path: "/v1/messages",
      provider: messages,
      // Headers of a chat client have no meaning here.
      headers: { ...JSON_TYPE, "anthropic-version": "2023-06-01" },
      request: messagesRequestOf,
      answer: (body, context, fingerprint) => ({
        ...chatAnswerOf(body, context),
        system_fingerprint: fingerprint,
      }),
      stream: chatStreamOf,
      error: chatErrorOf,
    },
  ],
  [
    "/v1/messages",
    {
      path: "/v1/chat/completions",
      provider: chat,
      headers: JSON_TYPE,
      request: chatRequestOf,
      answer: messagesAnswerOf,
      stream: messagesStreamOf,
      error: messagesErrorOf,
    },
  ],
]);

/** The codecs of a key that were used, by path. */
const codecsOf = keptPerKey(() => new Map<string, ProviderCodec>());

/** Returns the codec for a key of the other style, or null when the endpoint has no translation. */
export function translated(endpoint: GatewayEndpoint, key: ProviderTarget): ProviderCodec | null {
  const { path } = endpoint;
  if (!TRANSLATIONS.has(path)) return null;
  const codecs = codecsOf(key);
  let codec = codecs.get(path);
  if (codec === undefined) {
    codec = translatedCodec(endpoint, hostOf(key))!;
    codecs.set(path, codec);
  }
  return codec;
}

/** Returns the codec for a provider's host, or null when the endpoint has no translation. */
export function translatedCodec({ path, dialect }: GatewayEndpoint, host: string): ProviderCodec | null {
  const translation = TRANSLATIONS.get(path);
  return translation === undefined ? null : createTranslatedCodec(translation, path, dialect, host);
}

const hostOf = ({ provider }: ProviderTarget): string => URL.parse(provider)?.hostname ?? "";

function createTranslatedCodec(
  translation: Translation,
  clientPath: string,
  client: Dialect,
  host: string,
): ProviderCodec {
  const encode: ProviderCodec["encode"] = (request, { model, naming }) => {
    const facts = { ...modelFacts(model, host), name: naming.model ?? model };
    const sent = translation.request(request.payload.whole() as Json, facts);
    if (sent.ok) return { body: JSON.stringify(named(sent.body, naming)), toolNames: sent.toolNames };
    const { code, message } = sent.refusal;
    return { refusal: { code, message: `${message}.` } };
  };
  return {
    path: translation.path,
    usage: translation.provider.usage,
    translates: true,
    encode,
    open(request, input, encoded) {
      const sent = encoded ?? encode(request, input);
      return "refusal" in sent
        ? sent
        : new TranslatedExchange(translation, clientPath, client, request, input, sent);
    },
  };
}

/** A request in the other style, with the translation of its answer. */
class TranslatedExchange implements ProviderExchange {
  readonly outgoing: EncodedRequest;
  readonly sentModel: string;
  private readonly context: AnswerContext;

  constructor(
    private readonly translation: Translation,
    private readonly clientPath: string,
    private readonly client: Dialect,
    private readonly request: ModelRequest,
    private readonly input: EncodeInput,
    { body, toolNames }: EncodedBody,
  ) {
    const { model, naming, id, now, promptTokens } = input;
    this.context = { id, model, toolNames, now, promptTokens };
    this.sentModel = naming.model ?? model;
    this.outgoing = { method: "POST", body, headers: translation.headers };
  }

  get origin(): RequestOrigin {
    const { clientPath: path, request, input, context } = this;
    return { kind: "request", path, translates: true, request, input, toolNames: context.toolNames };
  }

  get path(): string {
    return this.translation.path;
  }

  get usage(): UsageDialect {
    return this.translation.provider.usage;
  }

  get closing(): Uint8Array {
    return this.client.closing;
  }

  readAnswer(answered: WholeBody): WholeAnswer {
    return this.translation.provider.readAnswer(answered, this.request);
  }

  clientText(_: string, body: Json | null, fingerprint: string): string {
    return JSON.stringify(this.translation.answer(body ?? {}, this.context, fingerprint));
  }

  stream(options: StreamOptions): StreamMachine {
    return this.translation.stream(this.context, options);
  }

  translateFailure(signal: UpstreamFailure): UpstreamFailure {
    return signal.pass === undefined ? signal : { ...signal, pass: this.translation.error(signal.pass) };
  }
}

/** Returns the body with the model named as the provider expects it. */
function named(body: Json, { model, add, without = [] }: ModelNaming): Json {
  const { model: _, ...rest } = body;
  const sent: Json = { ...(model === null ? {} : { model }), ...rest, ...add };
  for (const field of without) delete sent[field];
  return sent;
}
