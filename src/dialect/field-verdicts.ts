// Records for each request field whether it can select another model, reach objects of another account, or
// cause a fee that is not metered. There is one table for all paths. A test compares it with the request
// types of the SDKs, so that a new field requires a verdict. request-demands.ts applies the verdicts.

/** What a field can cause. */
export type Verdict =
  /** It changes only the answer, whose usage is metered. */
  | "passes"
  /** The gateway reads it itself and validates or meters it. */
  | "read"
  /** It lets the provider answer with another model, so it is refused. */
  | "other_model"
  /** It does so only at hosts that route by it. */
  | "routes"
  /**
   * It names an object of the provider's account, which all users of a key share; only some keys allow it.
   */
  | "objects"
  /** It names such an object if its value is an object rather than a string. */
  | "objects_if_object"
  /** Its content has verdicts of its own. */
  | "nested";

/** Verdicts by field name. */
export type Verdicts = Readonly<Record<string, Verdict>>;

const all = (verdict: Verdict, names: string): Verdicts =>
  Object.fromEntries(names.split(" ").map((name) => [name, verdict]));

/** Top-level fields of a body. A name means the same on every path, but may have different forms. */
export const TOP_LEVEL: Verdicts = {
  // `svg` names the model that draws, beside the one that was asked for.
  ...all("other_model", "fallbacks svg"),
  ...all("routes", "models route provider plugins preset"),
  ...all("objects", "mcp_servers thread billing_policy user_profile_id workspace_id access_programs"),
  // A container that is a string names an object; an object may create one, with or without files of the
  // account.
  ...all("nested", "container tools messages input system image images mask markup audio functions"),
  // An object names a prompt stored at the provider or a custom voice. A string is the prompt or a public
  // voice.
  ...all("objects_if_object", "prompt voice"),
  // These are validated by the dialects, metered, or looked up by the account that created them.
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
  ...all("passes", "language languages keywords timestamp_granularities stream_format complexity"),
  ...all("passes", "frame_count frame_duration_ms"),
};

/** How a tool is billed and what it can cause, by its type without the date. */
export type ToolVerdict =
  /** The client runs it, or it is billed by tokens only. */
  | "passes"
  /** It searches the web, which always has a price. */
  | "search"
  /** It is billed per call, so a price of its name must exist. */
  | "call"
  /** It is billed per call if the provider runs it. */
  | "call_if_hosted"
  | "other_model"
  | "objects"
  /** It contains further tools. */
  | "nested";

/** Verdicts of known tools. A tool of any other type counts as billed per call. */
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

/** Fields of a server tool and of its `container`, `environment` and `input_image_mask`. */
export const TOOL_FIELDS: Verdicts = {
  ...all("other_model", "model svg"),
  ...all("passes", "url_sources async external_web_access complexity frame_count frame_duration_ms"),
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

/** Fields of messages, of input items and of their content. */
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
  // Calls, their arguments and their results, which the provider reads as history.
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
  ...all("passes", "tool_use_id is_error from to trigger async reasoning"),
  // Fields of a picture that an earlier answer made.
  ...all("passes", "background output_format quality revised_prompt size svg_usage"),
};
