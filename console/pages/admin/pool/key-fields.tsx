// The fields of a provider key. Which of them there are depends on how its provider is reached.

import {
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import type { Failure } from "../../../api/failure.ts";
import { useWords } from "../../../i18n/language.ts";
import { PROVIDER_KEY } from "../../../i18n/provider-key.ts";
import { type KeyDraft, mappingOf, type ProviderType, refusedField, VERSIONED } from "./key-draft.ts";
import { ADDRESS_OF_CLOUD, KNOWN_PROVIDERS } from "./known-providers.ts";
import { SecretField } from "./secret-field.tsx";

/** What fields are given: the form as it is, how it changes, and what the service said to it last. */
export interface ProviderKeyFieldsProps {
  readonly draft: KeyDraft;
  readonly change: (changes: Partial<KeyDraft>) => void;
  readonly failure: Failure | null;
  /** Those of a key that there is; null: it is a new one. */
  readonly masks: { readonly secret: string; readonly privateKey: string | null } | null;
}

const TYPES: readonly ProviderType[] = ["standard", "cloud_a", "cloud_b"];

/** All fields of a key. */
export function ProviderKeyFields(props: ProviderKeyFieldsProps) {
  const { draft, change } = props;
  const words = useWords(PROVIDER_KEY);
  const refused = refusalOf(props.failure);
  return (
    <Stack gap="sm">
      <div>
        <SegmentedControl
          aria-label={words.type}
          data={TYPES.map((value) => ({ value, label: words.types[value] }))}
          value={draft.type}
          onChange={(type) => change({ type: type as ProviderType })}
          transitionDuration={0}
        />
        <Text size="xs" c="dimmed">
          {words.aboutTypes[draft.type]}
        </Text>
      </div>
      <AddressFields {...props} />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TextInput
          label={words.name}
          description={words.nameHint}
          value={draft.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
          error={refused("Name")}
        />
        <TextInput
          label={words.level}
          description={words.levelHint}
          value={draft.level}
          onChange={(event) => change({ level: event.currentTarget.value })}
          inputMode="numeric"
          required
          error={refused("Level")}
        />
      </SimpleGrid>
      <SecretField
        label={draft.type === "cloud_b" ? words.secretOrKey : words.secret}
        description={words.secretHint}
        mask={props.masks === null ? null : words.secretIs(props.masks.secret)}
        replace={words.replace}
        value={draft.secret}
        onChange={(secret) => change({ secret })}
        error={refused("SecretKey")}
        isRequired
      />
      <TypeFields {...props} />
      <Switch
        label={words.objects}
        description={words.objectsHint}
        checked={draft.allowsObjects}
        onChange={(event) => change({ allowsObjects: event.currentTarget.checked })}
      />
      <Switch
        label={words.status}
        checked={draft.status}
        onChange={(event) => change({ status: event.currentTarget.checked })}
      />
    </Stack>
  );
}

/** Returns the message of a refusal for the field that it is about. */
const refusalOf =
  (failure: Failure | null) =>
  (field: string): string | undefined =>
    failure?.kind === "refused" && refusedField(failure.code, failure.message) === field
      ? failure.message
      : undefined;

function AddressFields({ draft, change, failure }: ProviderKeyFieldsProps) {
  const words = useWords(PROVIDER_KEY);
  const error = refusalOf(failure)("Provider");
  const known = KNOWN_PROVIDERS.find(({ base }) => base === draft.provider.trim());
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      {draft.type === "standard" && (
        <Select
          label={words.known}
          data={[
            ...KNOWN_PROVIDERS.map(({ id, name }) => ({ value: id, label: name })),
            { value: "", label: words.other },
          ]}
          value={known?.id ?? (draft.provider.trim() === "" ? null : "")}
          placeholder={words.choose}
          onChange={(id) => change({ provider: KNOWN_PROVIDERS.find((one) => one.id === id)?.base ?? "" })}
          allowDeselect={false}
          searchable
          maxDropdownHeight={280}
          inputWrapperOrder={["label", "input", "description"]}
        />
      )}
      <TextInput
        label={words.provider}
        description={words.providerHint}
        value={draft.provider}
        onChange={(event) => change({ provider: event.currentTarget.value })}
        placeholder={draft.type === "standard" ? "https://" : ADDRESS_OF_CLOUD[draft.type]}
        inputWrapperOrder={["label", "input", "description", "error"]}
        type="url"
        required
        error={error}
      />
    </SimpleGrid>
  );
}

function TypeFields(props: ProviderKeyFieldsProps) {
  switch (props.draft.type) {
    case "standard":
      return <StandardFields {...props} />;
    case "cloud_a":
      return <CloudAFields {...props} />;
    case "cloud_b":
      return <CloudBFields {...props} />;
  }
}

function StandardFields(props: ProviderKeyFieldsProps) {
  const { draft, change, failure } = props;
  const words = useWords(PROVIDER_KEY);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
      <Select
        label={words.style}
        data={[
          { value: "", label: words.styleAuto },
          { value: "chat", label: words.styles.chat },
          { value: "messages", label: words.styles.messages },
        ]}
        value={draft.apiStyle}
        onChange={(apiStyle) => change({ apiStyle: apiStyle ?? "" })}
        allowDeselect={false}
        error={refusalOf(failure)("Config.api_style")}
      />
      <ResponsesField {...props} />
    </SimpleGrid>
  );
}

function ResponsesField({ draft, change, failure }: ProviderKeyFieldsProps) {
  const words = useWords(PROVIDER_KEY);
  return (
    <Select
      label="/v1/responses"
      data={Object.entries(words.responses).map(([value, label]) => ({ value, label }))}
      value={draft.responses}
      onChange={(responses) => change({ responses: responses ?? "" })}
      allowDeselect={false}
      error={refusalOf(failure)("Config.responses")}
    />
  );
}

function CloudAFields(props: ProviderKeyFieldsProps) {
  const { draft, change, failure } = props;
  const words = useWords(PROVIDER_KEY);
  const refused = refusalOf(failure);
  return (
    <>
      <Textarea
        label={words.mapping}
        description={words.mappingHint}
        value={draft.mapping}
        onChange={(event) => change({ mapping: event.currentTarget.value })}
        placeholder={"gpt-4o=team-4o\n*=team-rest"}
        autosize
        minRows={3}
        maxRows={16}
        error={mappingOf(draft.mapping) === null ? words.mappingFault : refused("Config.model_mapping")}
      />
      <Stack gap={2} role="group" aria-label={words.versions}>
        <Text size="xs" fw={500}>
          {words.versions}
        </Text>
        <Text size="xs" c="dimmed">
          {words.versionsHint}
        </Text>
        <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="xs">
          {VERSIONED.map((kind) => (
            <TextInput
              key={kind}
              label={kind}
              value={draft.versions[kind]}
              onChange={(event) =>
                change({ versions: { ...draft.versions, [kind]: event.currentTarget.value.trim() } })
              }
              error={refused("Config.api_versions") !== undefined}
            />
          ))}
        </SimpleGrid>
      </Stack>
      <ResponsesField {...props} />
    </>
  );
}

function CloudBFields({ draft, change, failure, masks }: ProviderKeyFieldsProps) {
  const words = useWords(PROVIDER_KEY);
  const refused = refusalOf(failure);
  const field = (name: "baseUrl" | "projectId" | "clientEmail", label: string, api: string) => (
    <TextInput
      label={label}
      value={draft[name]}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
      error={refused(`Config.${api}`)}
    />
  );
  const mask = masks?.privateKey ?? null;
  return (
    <>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        {field("projectId", words.project, "project_id")}
        {field("clientEmail", words.email, "client_email")}
      </SimpleGrid>
      {field("baseUrl", words.baseUrl, "base_url")}
      <SecretField
        label={words.privateKey}
        mask={mask === null ? null : words.privateKeyIs(mask)}
        replace={words.replaceKey}
        value={draft.privateKey}
        onChange={(privateKey) => change({ privateKey })}
        error={refused("Config.private_key")}
        isLong
      />
    </>
  );
}
