// The programs of docs/agents.md as they are run: which files of the page they need and where, what is called, and what they
// speak. Starts nothing and judges nothing.

import type { Installed } from "./installed.ts";
import { CALLS, type Speaks } from "./loop.ts";

/** What is installed here. */
export interface Installation {
  readonly bun: string;
  readonly python: Installed;
  readonly codex: Installed;
  readonly aider: Installed;
}

export interface Program {
  readonly name: string;
  readonly installed: (installation: Installation) => Installed;
  /** The files of docs/agents, by their place in the program's home folder. */
  readonly files: Readonly<Record<string, string>>;
  /** The commands, in order; the last one asks. */
  readonly commands: (path: string, key: string, said: string) => readonly (readonly string[])[];
  readonly env?: (key: string) => Readonly<Record<string, string>>;
  readonly speaks: Speaks;
  /** The model that its file names. */
  readonly model: string;
  /** Requests that it makes for one task, with calls of a tool between them. */
  readonly requests: number;
  /** What a user says, and what the program prints at its end. */
  readonly said: string;
  readonly prints: string;
  /** What the provider gets as the result of a tool, if tools are called. */
  readonly result?: string;
}

const KEY_IN_ENV = (key: string) => ({ ARBORGATE_API_KEY: key });
const once = { requests: 1, said: "hello there [[output=4]]", prints: "hello there time year" } as const;

/**
 * The answer in words of the stand-in's own. It echoes what a user says otherwise, to which programs and translations add
 * what else is in a user's turn.
 */
const OWN_WORDS = "utf8 output=3";

const script = (name: string, file: string): Program => ({
  name,
  installed: ({ bun, python }) => (file.endsWith(".py") ? python : { ok: true, path: bun }),
  files: { [file]: file },
  commands: (path, _, said) => [[path, file, said]],
  env: KEY_IN_ENV,
  speaks: "responses",
  model: "gpt-5.5",
  ...once,
});

/** A tool that `llm` is given at its command line. */
const REPEAT = 'def repeat(text: str) -> str:\n  "Repeats a text."\n  return text + ", again"\n';

const llm = (model: string, name: string, speaks: Speaks): Program => ({
  name: `llm, ${name}`,
  installed: ({ python }) => python,
  files: { ".config/io.datasette.llm/extra-openai-models.yaml": "llm/extra-openai-models.yaml" },
  commands: (path, key, said) => [
    [path, "-m", "llm", "keys", "set", "arborgate", "--value", key],
    [path, "-m", "llm", "-m", name, "--functions", REPEAT, "--chain-limit", `${CALLS + 2}`, said],
  ],
  speaks,
  model,
  requests: CALLS + 1,
  said: `go on [[tool=1 rounds=${CALLS} output=3]]`,
  prints: "go on time",
  result: "go on, again",
});

export const PROGRAMS: readonly Program[] = [
  {
    name: "Codex",
    installed: ({ codex }) => codex,
    files: { ".codex/config.toml": "codex/config.toml" },
    // The commands of the task print a word; they need no sandbox, which not every machine has.
    commands: (path, _, said) => [
      [path, "exec", "--strict-config", "--skip-git-repo-check", "--sandbox", "danger-full-access", said],
    ],
    env: KEY_IN_ENV,
    speaks: "responses",
    model: "gpt-5.5",
    requests: CALLS + 1,
    said: `say hello [[tool=1 rounds=${CALLS} arguments={"cmd":"echo\\u0020hello"} ${OWN_WORDS}]]`,
    prints: "größe 日本 привет",
    result: "hello\\n",
  },
  script("OpenAI Agents SDK", "openai-agents.ts"),
  script("OpenAI Agents SDK in Python", "openai_agents.py"),
  script("Vercel AI SDK", "vercel.ts"),
  script("LangChain", "langchain.ts"),
  script("LangChain in Python", "langchain.py"),
  {
    name: "aider",
    installed: ({ aider }) => aider,
    files: {
      ".aider.conf.yml": "aider/.aider.conf.yml",
      ".aider.model.metadata.json": "aider/.aider.model.metadata.json",
    },
    commands: (path, _, said) => [
      [path, "-m", "aider", "--no-git", "--yes-always", "--no-pretty", "--message", said],
    ],
    env: (key) => ({ OPENAI_API_KEY: key }),
    speaks: "chat",
    model: "claude-sonnet-5",
    requests: 1,
    said: `hello there [[${OWN_WORDS}]]`,
    prints: "größe 日本 привет",
  },
  llm("gpt-5.5", "arborgate-gpt", "responses"),
  llm("claude-sonnet-5", "arborgate-claude", "chat"),
];
