import { randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  CLIRuntime,
  type ExecuteOptions,
  type ResolvedAgent,
  type RuntimeInterface,
  type SDKMessage,
  SDKRuntime,
  SessionFileRuntime,
} from "@herdctl/core";
import type { ProcessExit } from "../../packages/core/src/runner/runtime/spawn.ts";
import { type ClaudeVersion, claudeBinary } from "./claude.ts";
import { agentOf, inlineAgent, load } from "./fleet.ts";
import { type Stage, stage } from "./stage.ts";
import { sliceOf } from "./width.ts";

export interface RuntimeUnderTest {
  name: string;
  version: ClaudeVersion;
  create: () => RuntimeInterface;
  /** What it needs beside the stage: a container and a door, for one. */
  setUp?: (on: Stage, yaml: string) => Promise<Setting>;
  /** The workspace as the agent sees it. */
  seenAs?: (on: Stage) => string;
}

export interface Setting {
  agent: ResolvedAgent;
  runtime: RuntimeInterface;
  options: Partial<ExecuteOptions>;
  env: Record<string, string>;
}

export function seenWorkspace(runtime: RuntimeUnderTest, on: Stage): string {
  return runtime.seenAs?.(on) ?? on.workspace;
}

/** Every runtime, and the CLI with the older binary too. */
export const everyRuntime: RuntimeUnderTest[] = [
  { name: "SDKRuntime 325", version: "325", create: () => new SDKRuntime() },
  { name: "CLIRuntime 325", version: "325", create: () => new CLIRuntime() },
  { name: "CLIRuntime 197", version: "197", create: () => new CLIRuntime() },
];

export const runtimes = sliceOf(everyRuntime, 2);

export const sessionFileRuntimes: RuntimeUnderTest[] = sliceOf(
  [
    { name: "SessionFileRuntime 325", version: "325", create: () => new SessionFileRuntime() },
    { name: "SessionFileRuntime 197", version: "197", create: () => new SessionFileRuntime() },
  ],
  1,
);

export interface Performance {
  messages: SDKMessage[];
  exit: ProcessExit | undefined;
  stderr: string;
  stage: Stage;
}

export interface PerformanceOptions {
  /** The agent's configuration; it may do anything unless this says otherwise. */
  agent?: string;
  prompt?: string;
  options?: Partial<ExecuteOptions>;
  env?: Record<string, string>;
  onMessage?: (message: SDKMessage) => void;
}

/** Runs an agent on the stage and gathers all that it showed. */
export async function perform(
  runtime: RuntimeUnderTest,
  on: Stage,
  { agent = "", prompt = "hello", options, env, onMessage }: PerformanceOptions = {},
): Promise<Performance> {
  const yaml = agent.includes("permission_mode")
    ? agent
    : `permission_mode: bypassPermissions\n${agent}`;
  const seen: Performance = { messages: [], exit: undefined, stderr: "", stage: on };
  const setting = (await runtime.setUp?.(on, yaml)) ?? {
    agent: agentOf(load(inlineAgent(yaml)), "one"),
    runtime: runtime.create(),
    options: {},
    env: {},
  };
  const run = setting.runtime.execute({
    agent: setting.agent,
    prompt,
    session: { kind: "fresh", sessionId: randomUUID() },
    claude: claudeBinary(runtime.version),
    claudeVersion: `2.1.${runtime.version}`,
    cwd: on.workspace,
    env: {
      ...on.env,
      CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1",
      ...setting.env,
      ...env,
    },
    privateDir: join(on.home, "private"),
    signal: new AbortController().signal,
    ...setting.options,
    ...options,
    observer: {
      ...options?.observer,
      exited: (exit) => {
        seen.exit = exit;
      },
      stderr: (text) => {
        seen.stderr += text;
      },
    },
  });
  for await (const message of run) {
    seen.messages.push(message);
    onMessage?.(message);
  }
  return seen;
}

/** A stage whose model obeys what it reads. */
export function obedientStage(): Promise<Stage> {
  return stage({ mode: "obedient" });
}

export function obey(...commands: [tool: string, input: object][]): string {
  return commands.map(([tool, input]) => `OBEY: ${tool} ${JSON.stringify(input)}`).join("\n");
}

type Of<T extends SDKMessage["type"]> = Extract<SDKMessage, { type: T }>;

export function ofType<T extends SDKMessage["type"]>(messages: SDKMessage[], type: T): Of<T>[] {
  return messages.filter((message): message is Of<T> => message.type === type);
}

export function resultOf(messages: SDKMessage[]): Of<"result"> | undefined {
  return ofType(messages, "result").at(-1);
}

export function initOf(messages: SDKMessage[]) {
  return ofType(messages, "system").find((message) => message.subtype === "init");
}

/** The text of every tool result, in order. */
export function toolResults(messages: SDKMessage[]): string[] {
  return ofType(messages, "user").flatMap(({ message }) =>
    typeof message.content === "string"
      ? []
      : message.content.flatMap((block) =>
          block.type === "tool_result" ? [JSON.stringify(block.content ?? "")] : [],
        ),
  );
}

export function finalText(messages: SDKMessage[]): string {
  const result = resultOf(messages);
  return result?.subtype === "success" ? result.result : "";
}
