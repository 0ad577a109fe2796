// The fields of a provider key as they come in: what each may be, by itself. What they must be together is the business of
// src/admin/key-config.ts. A rule that an error repeats never holds what was sent.

import { type TSchema, Type } from "@sinclair/typebox";
import { API_VERSION } from "../../admin/key-config.ts";
import { SECRET_MIN } from "../../admin/key-secrets.ts";
import { textSchema } from "../schemas.ts";
import { email, visibleText } from "../text-rules.ts";

const SECRET_MAX = 8_192;

const Name = Type.Optional(visibleText(255));
const Level = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000, description: "must be an integer" });
const Provider = textSchema(2_048, 1);
const Status = Type.Optional(Type.Boolean({ description: "must be true or false" }));

const isGiven = { additionalProperties: false, description: "must be an object" } as const;

const ProviderType = Type.Union(
  [Type.Literal("standard"), Type.Literal("cloud_a"), Type.Literal("cloud_b")],
  { description: 'must be "standard", "cloud_a" or "cloud_b"' },
);
const ApiStyle = Type.Union([Type.Literal("chat"), Type.Literal("messages")], {
  description: 'must be "chat" or "messages"',
});
const AllowProviderObjects = Type.Boolean({ description: "must be true or false" });
const ModelMapping = Type.Record(Type.String(), textSchema(256, 1), {
  description: "must map names or patterns of models to names of deployments",
  // A name with a line break is no key of a record: without this its value would pass unseen.
  additionalProperties: false,
});
const ApiVersion = Type.Optional(
  Type.String({
    pattern: API_VERSION.source,
    description: "must be a date such as 2024-10-21 or 2025-04-01-preview, or v1, latest or preview",
  }),
);
const ApiVersions = Type.Object(
  { chat: ApiVersion, embeddings: ApiVersion, responses: ApiVersion, audio: ApiVersion, images: ApiVersion },
  {
    additionalProperties: false,
    description:
      "must hold versions such as 2024-10-21, 2025-04-01-preview or v1 for any of chat, embeddings, responses, audio, images",
  },
);
const BaseUrl = textSchema(2_048, 1);
const ProjectId = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9.:-]{0,99}$",
  description: "must be the id of a project",
});
const ClientEmail = email("the e-mail address of a service account");
const PrivateKey = textSchema(SECRET_MAX, 1);

export const NewProviderKey = Type.Object(
  {
    Name,
    Level,
    Provider,
    SecretKey: textSchema(SECRET_MAX, SECRET_MIN),
    Status,
    Config: Type.Optional(
      Type.Object(
        {
          provider_type: Type.Optional(ProviderType),
          api_style: Type.Optional(ApiStyle),
          allow_provider_objects: Type.Optional(AllowProviderObjects),
          model_mapping: Type.Optional(ModelMapping),
          api_versions: Type.Optional(ApiVersions),
          base_url: Type.Optional(BaseUrl),
          project_id: Type.Optional(ProjectId),
          client_email: Type.Optional(ClientEmail),
          private_key: Type.Optional(PrivateKey),
        },
        isGiven,
      ),
    ),
  },
  { additionalProperties: false },
);

/** A field of Config in an update: null takes it away. */
const orNone = <S extends TSchema>(schema: S) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description: `${schema.description}, or null` }));

export const KeyUpdate = Type.Object(
  {
    Name,
    Level: Type.Optional(Level),
    Provider: Type.Optional(Provider),
    // Its mask is shorter than any secret, and leaves it as it is.
    SecretKey: Type.Optional(textSchema(SECRET_MAX, 1)),
    Status,
    Sleep: Type.Optional(
      Type.Literal(false, {
        description:
          "must be false, which wakes the key; its failures decide when it sleeps, and Status false takes it out of use",
      }),
    ),
    Config: Type.Optional(
      Type.Object(
        {
          provider_type: orNone(ProviderType),
          api_style: orNone(ApiStyle),
          allow_provider_objects: orNone(AllowProviderObjects),
          model_mapping: orNone(ModelMapping),
          api_versions: orNone(ApiVersions),
          base_url: orNone(BaseUrl),
          project_id: orNone(ProjectId),
          client_email: orNone(ClientEmail),
          private_key: orNone(PrivateKey),
        },
        isGiven,
      ),
    ),
  },
  { additionalProperties: false },
);

/** Which model a key is to be tested with. */
export const TestedModel = Type.Object(
  { model: Type.Optional(textSchema(256, 1)) },
  { additionalProperties: false },
);
