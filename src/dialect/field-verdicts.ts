// What each field of a request means to others than its sender: whether it may bring another model, another account's things
// or a fee that nobody counted. One table for all paths, which a test holds against the request types of the SDKs, so that
// a field of a newer version asks for a verdict. What a verdict leads to is request-demands.ts.

export type Verdict =
  /** Changes nothing but the answer, whose usage is metered. */
  | "passes"
  /** The gateway reads it itself, and checks or meters it. */
  | "read"
  /** Makes the provider answer with a model that was not routed: refused. */
  | "other_model"
  /** The same, at hosts that route by it and at no others. */
  | "routes"
  /** Names a thing of the provider's account, which is the whole key's: only at keys that allow it. */
  | "objects"
  /** The same where it is an object rather than a plain word. */
  | "objects_if_object"
  /** What lies in it is judged in its place. */
  | "nested";

export type Verdicts = Readonly<Record<string, Verdict>>;

const all = (verdict: Verdict, names: string): Verdicts =>
  Object.fromEntries(names.split(" ").map((name) => [name, verdict]));

/** Fields of the body, by name: no name means two things on two paths, but for its form. */
export const TOP_LEVEL: Verdicts = {
  ...all("other_model", "fallbacks"),
  ...all("routes", "models route provider plugins preset"),
  ...all("objects", "mcp_servers thread billing_policy user_profile_id workspace_id"),
  // A string names one; an object may make a new one, with files of the account or without.
  ...all("nested", "container tools messages input system image images mask audio functions"),
  // A prompt kept by the provider; a voice made by its customer. A string is the thing itself.
  ...all("objects_if_object", "prompt voice"),
  // Checked by the rules of the dialects, metered, or known by the account that made it.
  ...all(
    "read",
    "model stream stream_options n max_tokens max_completion_tokens max_output_tokens max_tool_calls",
  ),
  ...all(
    "read",
    "service_tier speed inference_geo background previous_response_id conversation store best_of",
  ),
  ...all(
    "read",
    "web_search_options context_management compaction modalities file response_format size quality",
  ),
  ...all("passes", "cache_control diagnostics fallback_credit_token metadata output_config output_format"),
  ...all("passes", "stop_sequences thinking tool_choice temperature top_k top_p betas frequency_penalty"),
  ...all(
    "passes",
    "function_call logit_bias logprobs moderation parallel_tool_calls prediction presence_penalty",
  ),
  ...all("passes", "prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort seed stop"),
  ...all(
    "passes",
    "safety_identifier top_logprobs user verbosity include instructions reasoning text truncation",
  ),
  ...all("passes", "multi_agent echo suffix dimensions encoding_format input_fidelity output_compression"),
  ...all("passes", "partial_images style chunking_strategy known_speaker_names known_speaker_references"),
  ...all("passes", "language languages keywords timestamp_granularities stream_format"),
};

/** What a tool is, by its type without the date behind it. */
export type ToolVerdict =
  /** The client runs it, or it is billed by tokens alone. */
  | "passes"
  /** A search of the web, which always has a price. */
  | "search"
  /** Billed by the call: needs a price of its name. */
  | "call"
  /** The same where the provider runs it. */
  | "call_if_hosted"
  | "other_model"
  | "objects"
  /** Holds further tools. */
  | "nested";

/** A tool of a type that is not here is billed by the call, for all that is known. */
export const TOOL_TYPES: Readonly<Record<string, ToolVerdict>> = {
  function: "passes",
  custom: "passes",
  namespace: "nested",
  computer: "passes",
  computer_use_preview: "passes",
  computer_toolset: "passes",
  browser_toolset: "passes",
  bash: "passes",
  text_editor: "passes",
  memory: "passes",
  local_shell: "passes",
  apply_patch: "passes",
  tool_search: "passes",
  tool_search_tool_bm25: "passes",
  tool_search_tool_regex: "passes",
  programmatic_tool_calling: "passes",
  web_fetch: "passes",
  web_search: "search",
  web_search_preview: "search",
  code_interpreter: "call",
  code_execution: "call",
  file_search: "call",
  image_generation: "call",
  shell: "call_if_hosted",
  advisor: "other_model",
  mcp: "objects",
  mcp_toolset: "objects",
};

/** Fields of a server tool, and of what lies in its `container`, `environment` and `input_image_mask`. */
export const TOOL_FIELDS: Verdicts = {
  ...all("other_model", "model"),
  ...all("passes", "url_sources"),
  ...all("objects", "vector_store_ids file_id file_ids container_id skill_id"),
  ...all("nested", "container environment input_image_mask skills tools id"),
  ...all("read", "type max_uses"),
  ...all(
    "passes",
    "name description parameters strict input_schema input_examples cache_control defer_loading",
  ),
  ...all("passes", "allowed_callers eager_input_streaming output_schema format function custom"),
  ...all("passes", "filters max_num_results ranking_options display_height display_width environment_type"),
  ...all("passes", "display_height_px display_width_px display_number enable_zoom max_characters configs"),
  ...all("passes", "search_context_size user_location search_content_types allowed_domains blocked_domains"),
  ...all("passes", "citations max_content_tokens response_inclusion use_cache caching max_tokens"),
  ...all("passes", "server_label server_url server_description connector_id tunnel_id authorization headers"),
  ...all("passes", "allowed_tools require_approval mcp_server_name default_config"),
  ...all("passes", "action background input_fidelity moderation output_compression output_format"),
  ...all(
    "passes",
    "partial_images quality size execution image_url memory_limit network_policy version source",
  ),
};

/** Fields of messages, of the items of an input and of their content. */
export const CONTENT_FIELDS: Verdicts = {
  ...all("objects", "file_id"),
  ...all("nested", "content source file output tools tool tool_changes audio environment"),
  ...all("passes", "type text role cache_control citations data media_type url image_url input_audio detail"),
  ...all(
    "passes",
    "file_data file_url filename title context thinking signature refusal name id phase agent",
  ),
  ...all("passes", "author recipient status prompt_cache_breakpoint transformations toolset_name clear_at"),
  ...all("passes", "output_config"),
  // What was called, with what, and what came of it: the provider reads it as history.
  ...all(
    "passes",
    "function_call tool_calls tool_call_id call_id caller caller_id namespace arguments input action",
  ),
  ...all(
    "passes",
    "actions operation code container_id outputs result results queries summary execution error",
  ),
  ...all("passes", "encrypted_content max_output_length pending_safety_checks acknowledged_safety_checks"),
  ...all("passes", "server_label server_name mcp_server_name approval_request_id approve reason fingerprint"),
  ...all("passes", "tool_use_id is_error from to trigger"),
};
