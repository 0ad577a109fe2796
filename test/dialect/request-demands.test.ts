// What a body demands beyond its model, by the place where a provider reads it.

import { describe, expect, test } from "bun:test";
import { TOOL_FIELDS } from "../../src/dialect/field-verdicts.ts";
import { demandsOf, otherModelIn } from "../../src/dialect/request-demands.ts";

const said = (...content: object[]) => ({ messages: [{ role: "user", content }] });

describe("a thing of the provider's account is found", () => {
  test.each<[where: string, body: object]>(
    // biome-ignore format: a table
    [
      ["container", { container: "c" }],
      ["container.id", { container: { id: "c" } }],
      ["thread", { thread: { type: "continue" } }],
      ["prompt", { prompt: { id: "p" } }],
      ["voice", { voice: { id: "v" } }],
      ["audio.voice", { audio: { voice: { id: "v" }, format: "wav" } }],
      ["images.0.file_id", { images: [{ file_id: "f" }] }],
      ["mask.file_id", { mask: { file_id: "f" } }],
      ["messages.0.content.0.file_id", said({ type: "container_upload", file_id: "f" })],
      [
        "messages.0.content.0.source.content.0.source.file_id",
        said({
          type: "document",
          source: { type: "content", content: [{ type: "image", source: { type: "file", file_id: "f" } }] },
        }),
      ],
      ["messages.0.content.0.content.0.source.file_id", said({ type: "tool_result", content: [{ type: "image", source: { type: "file", file_id: "f" } }] })],
      ["messages.0.content.0.tool", said({ type: "tool_addition", tool: { type: "mcp_toolset_reference", server_name: "s" } })],
      ["messages.0.content.0.tool.definition", said({ type: "tool_addition", tool: { type: "tool_definition", definition: { type: "mcp_toolset" } } })],
      ["messages.0.audio.id", { messages: [{ role: "assistant", audio: { id: "audio_1" } }] }],
      ["input.0.output.file_id", { input: [{ type: "computer_call_output", output: { type: "computer_screenshot", file_id: "f" } }] }],
      ["input.0.output.0.file_id", { input: [{ type: "function_call_output", output: [{ type: "input_image", file_id: "f" }] }] }],
      ["input.0.tools.0", { input: [{ type: "additional_tools", tools: [{ type: "mcp" }] }] }],
      ["input.0.environment.container_id", { input: [{ type: "shell_call", environment: { type: "container_reference", container_id: "c" } }] }],
      ["tools.0.environment.container_id", { tools: [{ type: "shell", environment: { type: "container_reference", container_id: "c" } }] }],
      [
        "tools.0.environment.skills.0",
        {
          tools: [
            {
              type: "shell",
              environment: { type: "container_auto", skills: [{ type: "skill_reference", skill_id: "s" }] },
            },
          ],
        },
      ],
      ["tools.0.input_image_mask.file_id", { tools: [{ type: "image_generation", input_image_mask: { file_id: "f" } }] }],
      ["tools.0.tools.0", { tools: [{ type: "namespace", tools: [{ type: "mcp" }] }] }],
    ],
  )("at %s", (where, body) => {
    expect(demandsOf(body).objects).toBe(where);
  });

  test.each<[what: string, body: object]>([
    [
      "null and empty lists",
      { container: null, mcp_servers: [], tools: [{ type: "file_search", vector_store_ids: [] }] },
    ],
    ["a prompt, a voice and an image that are words", { prompt: "p", voice: "alloy", image: "AA" }],
    [
      "a new container, and the maker's skills",
      {
        container: { skills: [{ type: "anthropic", skill_id: "pdf" }] },
        tools: [{ type: "code_interpreter", container: { type: "auto" } }],
      },
    ],
    ["what a tool is given", said({ type: "tool_use", input: { file_id: "f", source: { file_id: "f" } } })],
    [
      "what a server tool gave back",
      said({ type: "code_execution_tool_result", content: { content: [{ file_id: "f" }] } }),
    ],
    [
      "a schema",
      {
        tools: [
          { name: "a", input_schema: { file_id: "f", model: "m" } },
          { type: "function", function: { parameters: { container: "c" } } },
        ],
      },
    ],
    [
      "a call and its result in responses",
      {
        input: [
          { type: "function_call", arguments: '{"file_id":"f"}' },
          { type: "function_call_output", output: '{"file_id":"f"}' },
        ],
      },
    ],
    ["a call that is history", { input: [{ type: "code_interpreter_call", container_id: "c" }] }],
  ])("but not in %s", (_, body) => {
    expect(demandsOf(body)).toMatchObject({ objects: null, routing: null });
    expect(otherModelIn(body as Record<string, unknown>)).toBeNull();
  });
});

/** Fields of tools that let another model answer, by their verdicts. */
const MODELS_OF_TOOLS = Object.entries(TOOL_FIELDS).flatMap(([field, verdict]) =>
  verdict === "other_model" ? [field] : [],
);

test.each(MODELS_OF_TOOLS)("another model is found in a tool's %s, and not where there is none", (field) => {
  const bodyOf = (value: unknown) => ({ tools: [{ type: "image_generation", [field]: value }] });
  expect(otherModelIn(bodyOf("m"))).toBe(`tools.0.${field}`);
  expect(otherModelIn(bodyOf({ model: "m" }))).toBe(`tools.0.${field}`);
  expect(otherModelIn(bodyOf(null))).toBeNull();
});

describe("calls that are billed", () => {
  test.each<[what: string, body: object, tools: object, searches: number]>(
    // biome-ignore format: a table
    [
      ["ten of each, unless it is said", { tools: [{ type: "code_interpreter" }, { type: "web_search_preview_2025_03_11" }] }, { code_interpreter: 10 }, 10],
      ["the request's limit", { max_tool_calls: 3, tools: [{ type: "file_search" }] }, { file_search: 3 }, 0],
      ["the tool's own limit", { tools: [{ type: "code_execution_20260120", max_uses: 2 }] }, { code_execution: 2 }, 0],
      ["of a shell that the provider hosts", { tools: [{ type: "shell", environment: { type: "container_auto" } }] }, { shell: 10 }, 0],
      ["none of a shell that the client runs", { tools: [{ type: "shell" }, { type: "shell", environment: { type: "local" } }] }, {}, 0],
      ["of a tool that nobody knows, by its only field", { tools: [{ google_search: {} }] }, { google_search: 10 }, 0],
      ["of a tool that comes later", { input: [{ type: "additional_tools", tools: [{ type: "file_search" }] }] }, { file_search: 10 }, 0],
      ["a search that a chat model makes by itself", { web_search_options: {} }, {}, 1],
      ["names that objects have", { tools: [{ type: "constructor" }, { type: "__proto__" }] }, { constructor: 10, ["__proto__"]: 10 }, 0],
    ],
  )("%s", (_, body, tools, searches) => {
    const demands = demandsOf(body);
    expect(Object.entries(demands.tools)).toEqual(Object.entries(tools));
    expect(demands.searches).toBe(searches);
  });
});

test.each<[body: object, compactions: number]>([
  [{ compaction: { type: "summarize" } }, 1],
  [{ context_management: { edits: [{ type: "compact_20260112" }] } }, 1],
  [{ context_management: [{ type: "compaction" }] }, 1],
  [{ context_management: { edits: [{ type: "clear_thinking_20251015" }] } }, 0],
])("%j may be summed up %d times", (body, compactions) => {
  expect(demandsOf(body).compactions).toBe(compactions);
});

test.each<[body: unknown]>([
  [null],
  [[]],
  ["a"],
  [{ messages: null, tools: {}, input: 5 }],
  [{ tools: [null, 3, []], messages: [[[]]] }],
])("nothing is demanded by %j", (body) => {
  expect(demandsOf(body)).toMatchObject({ objects: null, routing: null, searches: 0 });
});
