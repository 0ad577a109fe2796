// Providers whose API address the key form offers. A test compares the list with the catalog of the service.

/** A provider: the name that people know it by, and the address of its API. */
export interface KnownProvider {
  readonly id: string;
  readonly name: string;
  readonly base: string;
}

/** Providers that are reached directly below one address, those with many models first. */
export const KNOWN_PROVIDERS: readonly KnownProvider[] = [
  { id: "openai", name: "OpenAI", base: "https://api.openai.com/v1" },
  { id: "anthropic", name: "Anthropic", base: "https://api.anthropic.com/v1" },
  { id: "google", name: "Google Gemini", base: "https://generativelanguage.googleapis.com/v1beta/openai" },
  { id: "mistral", name: "Mistral", base: "https://api.mistral.ai/v1" },
  { id: "deepseek", name: "DeepSeek", base: "https://api.deepseek.com/v1" },
  { id: "xai", name: "xAI", base: "https://api.x.ai/v1" },
  { id: "moonshot", name: "Moonshot", base: "https://api.moonshot.ai/v1" },
  { id: "zhipu", name: "Z.ai (Zhipu)", base: "https://api.z.ai/api/paas/v4" },
  { id: "minimax", name: "MiniMax", base: "https://api.minimax.io/v1" },
  { id: "qwen", name: "Qwen", base: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1" },
  { id: "cohere", name: "Cohere", base: "https://api.cohere.com/compatibility/v1" },
  { id: "voyage", name: "Voyage", base: "https://api.voyageai.com/v1" },
  { id: "jina", name: "Jina", base: "https://api.jina.ai/v1" },
  { id: "perplexity", name: "Perplexity", base: "https://api.perplexity.ai" },
  { id: "groq", name: "Groq", base: "https://api.groq.com/openai/v1" },
  { id: "openrouter", name: "OpenRouter", base: "https://openrouter.ai/api/v1" },
  { id: "together", name: "Together", base: "https://api.together.xyz/v1" },
  { id: "fireworks", name: "Fireworks", base: "https://api.fireworks.ai/inference/v1" },
  { id: "cerebras", name: "Cerebras", base: "https://api.cerebras.ai/v1" },
];

/** What the address of a key begins with where it is known by its provider_type alone. */
export const ADDRESS_OF_CLOUD = {
  cloud_a: "https://RESOURCE.openai.azure.com",
  cloud_b: "https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global",
} as const;
