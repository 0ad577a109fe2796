// The provider for large bodies, a process of its own: counts what it is sent without keeping it, and answers in a few words.
// `bun bench/large-upstream.ts` prints the address it serves on; `GET` returns how many bytes came with the last request.

const ANSWERS: Readonly<Record<string, object>> = {
  "/v1/chat/completions": {
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "A tree." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 800, completion_tokens: 3, total_tokens: 803 },
  },
  "/v1/audio/transcriptions": {
    text: "A tree.",
    usage: { type: "tokens", input_tokens: 800, output_tokens: 3, total_tokens: 803 },
  },
};

let lastBytes = 0;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  maxRequestBodySize: 256 * 1024 * 1024,
  async fetch(request) {
    if (request.method === "GET") return Response.json(lastBytes);
    let bytes = 0;
    for await (const chunk of request.body ?? []) bytes += chunk.byteLength;
    lastBytes = bytes;
    return Response.json(ANSWERS[new URL(request.url).pathname]);
  },
});
console.log(`http://127.0.0.1:${server.port}`);
