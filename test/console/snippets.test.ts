// Code to copy: each piece names this host and the model, never the key, and is what its language can read.

import { describe, expect, test } from "bun:test";
import { firstModel, kindOf, MODEL_KINDS } from "../../console/api/model-kind.ts";
import { hasCode, keyHint, languagesFor, STYLES, snippetOf } from "../../console/api/snippets.ts";

const KEY = "sk-0123456789abcdefghijABCDEFGHIJ0123456789";

describe("a snippet", () => {
  for (const kind of MODEL_KINDS.filter(hasCode)) {
    for (const style of STYLES) {
      for (const language of languagesFor(kind)) {
        test(`${kind}, ${style}, ${language}`, () => {
          const wanted = { origin: "https://gateway.example", model: "it's-a-model", kind, style, language };
          const code = snippetOf({ ...wanted, key: keyHint(KEY) });
          expect(code).toContain("https://gateway.example");
          expect(code).toContain("sk-0123...");
          expect(code).not.toContain(KEY.slice(0, 10));
          expect(code).toContain(language === "curl" ? `it'\\''s-a-model` : "it's-a-model");
          if (language === "typescript") new Bun.Transpiler({ loader: "ts" }).transformSync(code);
          if (language === "python") expect(readsAsPython(code)).toBe(true);
          if (language === "curl") expect(Bun.spawnSync(["sh", "-n", "-c", code]).exitCode).toBe(0);
        });
      }
    }
  }
});

const readsAsPython = (code: string): boolean =>
  Bun.spawnSync(["python3", "-c", "import ast, sys; ast.parse(sys.argv[1])", code]).exitCode === 0;

test("what a model is for", () => {
  expect(kindOf("text-embedding-3-small", { InputText: 0.02 })).toBe("embeddings");
  expect(kindOf("gpt-4o-mini", { InputText: 0.15, OutputText: 0.6 })).toBe("chat");
  expect(kindOf("gpt-4o-mini-tts", { InputText: 0.6, OutputText: 12 })).toBe("speech");
  expect(kindOf("gpt-image-1", { InputText: 5 })).toBe("images");
  expect(kindOf("whisper-1", { Input: 6 })).toBe("transcription");
  expect(kindOf("fast")).toBe("chat");
});

test("a small chat model is the one to begin with", () => {
  const model = (id: string, price: object | null = { InputText: 1 }) => ({
    ...{ id, price, provider: "", context_window: 0, max_output_tokens: 0 },
  });
  const models = ["MiniMax-M2", "gpt-4o-mini-tts", "gpt-4o", "gpt-4o-mini"].map((id) => model(id));
  expect(firstModel(models)?.id).toBe("gpt-4o-mini");
  expect(firstModel(models.slice(0, 3))?.id).toBe("MiniMax-M2");
  expect(firstModel([model("fast", null)])?.id).toBe("fast");
  expect(firstModel([])).toBeNull();
});
