// Codecs for keys of another API style: they translate the request on the way to the provider, and the answer, its
// stream and the provider's errors on the way back. Each client path has one row for each provider style, and what has
// no row is not translated. Usage is read as the provider reported it, so that the same answer costs
// the same in either style.

import type { Refusal } from "../../base/errors.ts";
import type { HeaderRecord } from "../../base/header-reader.ts";
import { chat } from "../../dialect/chat/chat.ts";
import type {
  Dialect,
  ModelNaming,
  ModelRequest,
  RequestRefusal,
  StreamMachine,
  StreamOptions,
  WholeAnswer,
  WholeBody,
} from "../../dialect/dialect.ts";
import type { Json } from "../../dialect/json.ts";
import { messages } from "../../dialect/messages/messages.ts";
import {
  chatAnswerOf,
  chatStreamOf,
  messagesAnswerOf,
  messagesStreamOf,
  responsesAnswerOfChat,
  responsesAnswerOfMessages,
  responsesStreamOfChat,
  responsesStreamOfMessages,
} from "../../dialect/translate/answer-translations.ts";
import {
  chatErrorOf,
  type ErrorWords,
  messagesErrorOf,
  responsesErrorOf,
} from "../../dialect/translate/error-translation.ts";
import { modelFacts } from "../../dialect/translate/model-capabilities.ts";
import { repeatedFieldsOf } from "../../dialect/translate/repeated-fields.ts";
import {
  chatRequestOf,
  chatRequestOfResponses,
  messagesRequestOf,
  messagesRequestOfResponses,
} from "../../dialect/translate/request-translations.ts";
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
import { type ApiStyle, RESPONSES_PATH } from "./key-formats.ts";
import {
  type EncodedBody,
  type EncodedRequest,
  type EncodeInput,
  NO_REPEATED_FIELDS,
  type ProviderCodec,
  type ProviderExchange,
  type RequestOrigin,
} from "./provider-codec.ts";

/** The translation of one client style into one provider style. */
interface Translation {
  /** The provider's path and dialect. */
  readonly path: string;
  readonly provider: Dialect;
  readonly headers: HeaderRecord;
  request(body: Json, model: ModelFacts, promptTokens: number): TranslatedRequest;
  /** Translates a whole answer for the client. */
  answer(body: Json, context: AnswerContext, fingerprint: string): Json;
  readonly stream: StreamTranslation;
  error<E extends ErrorWords>(error: E): E;
}

const JSON_TYPE = { "content-type": "application/json" };

/** What all translations for a provider style have in common. Headers of the client have no meaning there. */
const AT_CHAT = { path: "/v1/chat/completions", provider: chat, headers: JSON_TYPE } as const;
const AT_MESSAGES = {
  path: "/v1/messages",
  provider: messages,
  headers: { ...JSON_TYPE, "anthropic-version": "2023-06-01" },
} as const;

/** The translations of each client path, by the provider's style. */
const TRANSLATIONS: ReadonlyMap<string, Readonly<Partial<Record<ApiStyle, Translation>>>> = new Map<
  string,
  Readonly<Partial<Record<ApiStyle, Translation>>>
>([
  [
    "/v1/chat/completions",
    {
      messages: {
        ...AT_MESSAGES,
        request: messagesRequestOf,
        answer: (body, context, fingerprint) => ({
          ...chatAnswerOf(body, context),
          system_fingerprint: fingerprint,
        }),
        stream: chatStreamOf,
        error: chatErrorOf,
      },
    },
  ],
  [
    "/v1/messages",
    {
      chat: {
        ...AT_CHAT,
        request: chatRequestOf,
        answer: messagesAnswerOf,
        stream: messagesStreamOf,
        error: messagesErrorOf,
      },
    },
  ],
  [
    RESPONSES_PATH,
    {
      chat: {
        ...AT_CHAT,
        request: chatRequestOfResponses,
        answer: responsesAnswerOfChat,
        stream: responsesStreamOfChat,
        error: responsesErrorOf.chat,
      },
      messages: {
        ...AT_MESSAGES,
        request: messagesRequestOfResponses,
        answer: responsesAnswerOfMessages,
        stream: responsesStreamOfMessages,
        error: responsesErrorOf.messages,
      },
    },
  ],
]);

/** The codecs of a key that were used, by path and style. */
const codecsOf = keptPerKey(() => new Map<string, ProviderCodec>());

/** Returns the codec for a key that accepts a style, or null when the endpoint is not translated into it. */
export function translated(
  endpoint: GatewayEndpoint,
  key: ProviderTarget,
  style: ApiStyle,
): ProviderCodec | null {
  if (TRANSLATIONS.get(endpoint.path)?.[style] === undefined) return null;
  const codecs = codecsOf(key);
  const name = `${style} ${endpoint.path}`;
  let codec = codecs.get(name);
  if (codec === undefined) {
    codec = translatedCodec(endpoint, style, hostOf(key))!;
    codecs.set(name, codec);
  }
  return codec;
}

/** Returns the codec that translates an endpoint for the provider's path, or null when there is none. */
export function codecToPath(
  endpoint: GatewayEndpoint,
  providerPath: string,
  host: string,
): ProviderCodec | null {
  return translatedCodec(endpoint, providerPath === AT_MESSAGES.path ? "messages" : "chat", host);
}

function translatedCodec(
  { path, dialect }: GatewayEndpoint,
  style: ApiStyle,
  host: string,
): ProviderCodec | null {
  const translation = TRANSLATIONS.get(path)?.[style];
  return translation === undefined ? null : createTranslatedCodec(translation, path, dialect, host);
}

const hostOf = ({ provider }: ProviderTarget): string => URL.parse(provider)?.hostname ?? "";

function createTranslatedCodec(
  translation: Translation,
  clientPath: string,
  client: Dialect,
  host: string,
): ProviderCodec {
  const encodeFor = (
    request: ModelRequest,
    { model, naming, promptTokens }: EncodeInput,
    facts: ModelFacts,
  ): ReturnType<ProviderCodec["encode"]> => {
    const body = request.payload.whole() as Json;
    const named = { ...facts, name: naming.model ?? model };
    const sent = translation.request(body, named, promptTokens);
    if (!sent.ok) return { refusal: refusalOf(sent.refusal) };
    const repeatedFields = clientPath === RESPONSES_PATH ? repeatedFieldsOf(body) : NO_REPEATED_FIELDS;
    return { body: JSON.stringify(withName(sent.body, naming)), toolNames: sent.toolNames, repeatedFields };
  };
  return {
    path: translation.path,
    usage: translation.provider.usage,
    translates: true,
    encode: (request, input) => encodeFor(request, input, modelFacts(input.model, host)),
    open(request, input, encoded) {
      const facts = modelFacts(input.model, host);
      const sent = encoded ?? encodeFor(request, input, facts);
      if ("refusal" in sent) return sent;
      const { provider, readsReasoning } = facts;
      const way = { translation, clientPath, client, host, provider, readsReasoning };
      return new TranslatedExchange(way, request, input, sent);
    },
  };
}

const refusalOf = ({ code, field, message }: RequestRefusal): Refusal => ({
  code,
  message: `${message}.`,
  param: field,
});

/** From which path and style to which, at whose provider. */
interface TranslationWay {
  readonly translation: Translation;
  readonly clientPath: string;
  readonly client: Dialect;
  readonly host: string;
  readonly provider: ModelFacts["provider"];
  readonly readsReasoning: ModelFacts["readsReasoning"];
}

/** A request in another style, with the translation of its answer. */
class TranslatedExchange implements ProviderExchange {
  readonly outgoing: EncodedRequest;
  readonly sentModel: string;
  private readonly context: AnswerContext;

  constructor(
    private readonly way: TranslationWay,
    private readonly request: ModelRequest,
    private readonly input: EncodeInput,
    { body, toolNames, repeatedFields }: EncodedBody,
  ) {
    const { model, naming, id, now, promptTokens } = input;
    const { provider, readsReasoning, translation } = way;
    const names = { model, provider, readsReasoning, toolNames };
    this.context = { id, repeatedFields, ...names, now, promptTokens };
    this.sentModel = naming.model ?? model;
    this.outgoing = { method: "POST", body, headers: translation.headers };
  }

  get origin(): RequestOrigin {
    const { way, path: providerPath, request, input, context } = this;
    const { toolNames, repeatedFields } = context;
    const to = { path: way.clientPath, providerPath, host: way.host };
    return { kind: "request", ...to, request, input, toolNames, repeatedFields };
  }

  get path(): string {
    return this.way.translation.path;
  }

  get usage(): UsageDialect {
    return this.way.translation.provider.usage;
  }

  get closing(): Uint8Array {
    return this.way.client.closing;
  }

  readAnswer(answered: WholeBody): WholeAnswer {
    return this.way.translation.provider.readAnswer(answered, this.request);
  }

  clientText(_: string, body: Json | null, fingerprint: string): string {
    return JSON.stringify(this.way.translation.answer(body ?? {}, this.context, fingerprint));
  }

  stream(options: StreamOptions): StreamMachine {
    return this.way.translation.stream(this.context, options);
  }

  translateFailure(signal: UpstreamFailure): UpstreamFailure {
    return signal.pass === undefined ? signal : { ...signal, pass: this.way.translation.error(signal.pass) };
  }
}

/** Returns the body with the model named as the provider expects it. */
function withName(body: Json, { model, add, without = [] }: ModelNaming): Json {
  const { model: _, ...rest } = body;
  const sent: Json = { ...(model === null ? {} : { model }), ...rest, ...add };
  for (const field of without) delete sent[field];
  return sent;
}
