// The official `openai` SDK: what it asks of other paths than those of conversation.

import type { Response as FinalResponse } from "openai/resources/responses/responses";
import { wavFile } from "../../provider/asking.ts";
import { clientOf } from "./openai.ts";
import { pictureFile, type Run, type Script, sum, thrownBy } from "./script.ts";

const transcribed = (run: Run, response_format: "json" | "verbose_json" | "srt") =>
  clientOf(run).audio.transcriptions.create({
    model: run.model,
    prompt: run.said!,
    file: wavFile(6),
    response_format,
  });

const kindOf = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64").toString("latin1", 1, 4);

const tokensOf = ({ usage }: FinalResponse) => [usage!.input_tokens, usage!.output_tokens];

export const openaiEndpoints: Script = {
  async responses({ model, said, ...run }) {
    const { responses } = clientOf({ model, said, ...run });
    const first = await responses.create({ model, input: said! });
    const last = await responses.create({
      model,
      input: "and on [[output=2]]",
      previous_response_id: first.id,
    });
    return {
      text: first.output_text,
      again: last.output_text,
      tokens: sum([tokensOf(first), tokensOf(last)]),
    };
  },

  async responses_streamed(run) {
    const stream = clientOf(run).responses.stream({ model: run.model, input: run.said! });
    let text = "";
    stream.on("response.output_text.delta", ({ delta }) => {
      text += delta;
    });
    const final = await stream.finalResponse();
    return { text, alike: final.output_text === text, tokens: tokensOf(final) };
  },

  async responses_kept(run) {
    const { responses } = clientOf(run);
    const { id, output_text } = await responses.create({ model: run.model, input: run.said! });
    const found = await responses.retrieve(id);
    await responses.delete(id);
    const error = await thrownBy(responses.retrieve(id));
    return {
      alike: found.id === id && found.output_text === output_text,
      gone: error.constructor.name,
    };
  },

  async completions(run) {
    const { choices, usage } = await clientOf(run).completions.create({
      model: run.model,
      prompt: run.said!,
      max_tokens: 100,
    });
    return { text: choices[0]!.text.trim(), tokens: [usage!.prompt_tokens, usage!.completion_tokens] };
  },

  async completions_streamed(run) {
    const stream = await clientOf(run).completions.create({
      model: run.model,
      prompt: run.said!,
      max_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let tokens: number[] = [];
    for await (const { choices, usage } of stream) {
      text += choices[0]?.text ?? "";
      if (usage) tokens = [usage.prompt_tokens, usage.completion_tokens];
    }
    return { text: text.trim(), tokens };
  },

  async embeddings(run) {
    const input = [run.said!, "three four"];
    const { data, usage } = await clientOf(run).embeddings.create({ model: run.model, input, dimensions: 8 });
    return { lengths: data.map(({ embedding }) => embedding.length), tokens: [usage.prompt_tokens, 0] };
  },

  async images(run) {
    const answer = await clientOf(run).images.generate({ model: run.model, prompt: run.said! });
    const { input_tokens, output_tokens } = answer.usage!;
    return { kind: kindOf(answer.data?.[0]?.b64_json), tokens: [input_tokens, output_tokens] };
  },

  async images_streamed(run) {
    const asked = { model: run.model, prompt: run.said!, partial_images: 1 };
    const stream = await clientOf(run).images.generate({ ...asked, stream: true });
    const events = await Array.fromAsync(stream);
    const last = events.at(-1)!;
    if (last.type !== "image_generation.completed") throw new Error(`it ended with ${last.type}`);
    const { input_tokens, output_tokens } = last.usage;
    return { events: events.length, kind: kindOf(last.b64_json), tokens: [input_tokens, output_tokens] };
  },

  async image_edit(run) {
    const image = [pictureFile(), pictureFile()];
    const answer = await clientOf(run).images.edit({ model: run.model, prompt: run.said!, image });
    const { input_tokens, output_tokens } = answer.usage!;
    return { kind: kindOf(answer.data?.[0]?.b64_json), tokens: [input_tokens, output_tokens] };
  },

  async speech(run) {
    const answer = await clientOf(run).audio.speech.create({
      model: run.model,
      input: run.said!,
      voice: "alloy",
    });
    return { bytes: (await answer.arrayBuffer()).byteLength };
  },

  async transcription(run) {
    return { text: (await transcribed(run, "json")).text };
  },

  async transcription_verbose(run) {
    const { text, duration, segments } = (await transcribed(run, "verbose_json")) as {
      text: string;
      duration: unknown;
      segments: { text: string }[];
    };
    return { text, duration: Number(duration), segments: segments.length };
  },

  async transcription_srt(run) {
    return { text: String(await transcribed(run, "srt")) };
  },

  async moderations(run) {
    const { results } = await clientOf(run).moderations.create({ model: run.model, input: run.said! });
    return { flagged: results.map(({ flagged }) => flagged) };
  },
};
