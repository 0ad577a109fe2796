// The advice for the Owner of a tested key: one sentence per failure kind.

import type { FailureKind } from "../upstream/upstream-failure.ts";

/** Message of a successful key test. */
export const KEY_WORKS = "The key works.";

/** What the Owner can do about each failure kind. */
export const ADVICE: Readonly<Record<FailureKind, string>> = {
  invalid_key:
    "The provider does not take the key: check SecretKey; of a cloud_b key Config.client_email and Config.private_key.",
  no_permission:
    "The provider knows the key but refuses it: check its permissions, its region, and from which addresses it may be used.",
  model_unavailable:
    "The provider has no such model for this key: check the model's name, and of a cloud_a key Config.model_mapping.",
  path_missing: "The provider does not have the path: check that Provider is the address of its API.",
  foreign_reasoning: "The provider took the key and refused what it cannot decrypt: test with another model.",
  quota_gone: "The account behind the key has no credit or quota left: top it up at the provider.",
  rate_limited: "The provider takes the key, but limits it at the moment: test again later.",
  too_big_for_tpm:
    "The provider takes the key, but its tokens per minute are too few: raise them at the provider.",
  overloaded: "The provider is overloaded: test again later.",
  server_error: "The provider failed: test again later, and check that Provider is the address of its API.",
  timeout: "The provider did not answer in time: check Provider, or test again later.",
  unreachable:
    "There was no connection to the provider: check the address; a private one must be listed in PROVIDER_ALLOW_CIDRS.",
  no_connection: "This node has too many connections to providers open: test again later.",
  error_body:
    "The provider answered with what is no answer: check that Provider is the address of its API, and Config.api_style.",
  empty_stream: "The provider answered with nothing: test again later.",
  not_streamed: "The provider answered whole where a stream was asked for: it does not stream this model.",
  answer_too_large: "The provider's answer is larger than 64 MB: test with another model.",
  redirect:
    "The provider sends elsewhere, and redirects are not followed: give the address that it names as Provider.",
  conflict: "The provider has a conflict with another request: test again.",
  rejected: "The provider took the key and refused this request: test with another model.",
  client_gone: "The test was given up.",
};
