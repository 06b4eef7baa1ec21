import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { ResolvedAgent } from "@herdctl/config";
import {
  CLIRuntime,
  type ExecuteOptions,
  type RuntimeInterface,
  type SDKMessage,
  SDKRuntime,
  SessionFileRuntime,
} from "@herdctl/core/internal";
import type { ProcessExit } from "../../packages/core/src/runner/runtimes/spawn-claude.ts";
import { type ClaudeVersion, claudeBinary } from "./claude-binaries.ts";
import { agentOf, inlineAgent, loadTestFleet } from "./fleet-config.ts";
import { startHarness, type TestHarness } from "./harness.ts";
import { testSubset } from "./test-subset.ts";

export interface RuntimeUnderTest {
  name: string;
  version: ClaudeVersion;
  create: () => RuntimeInterface;
  /** What it needs beside the harness, such as a container and a gateway. */
  setUp?: (harness: TestHarness, yaml: string) => Promise<RuntimeSetup>;
  /** The workspace path as the agent sees it. */
  workspacePath?: (harness: TestHarness) => string;
}

export interface RuntimeSetup {
  agent: ResolvedAgent;
  runtime: RuntimeInterface;
  options: Partial<ExecuteOptions>;
  env: Record<string, string>;
}

export function workspaceInRuntime(runtime: RuntimeUnderTest, harness: TestHarness): string {
  return runtime.workspacePath?.(harness) ?? harness.workspace;
}

/** Every runtime, and the CLI also with the older binary. */
export const allRuntimes: RuntimeUnderTest[] = [
  { name: "SDKRuntime 325", version: "325", create: () => new SDKRuntime() },
  { name: "CLIRuntime 325", version: "325", create: () => new CLIRuntime() },
  { name: "CLIRuntime 197", version: "197", create: () => new CLIRuntime() },
];

export const runtimes = testSubset(allRuntimes, 2);

export const sessionFileRuntimes: RuntimeUnderTest[] = testSubset(
  [
    { name: "SessionFileRuntime 325", version: "325", create: () => new SessionFileRuntime() },
    { name: "SessionFileRuntime 197", version: "197", create: () => new SessionFileRuntime() },
  ],
  1,
);

export interface RuntimeExecution {
  messages: SDKMessage[];
  exit: ProcessExit | undefined;
  stderr: string;
  harness: TestHarness;
}

export interface RuntimeExecutionOptions {
  /** The agent's configuration; by default it may do anything. */
  agent?: string;
  prompt?: string;
  options?: Partial<ExecuteOptions>;
  env?: Record<string, string>;
  onMessage?: (message: SDKMessage) => void;
}

/** Runs an agent in the harness and collects its messages. */
export async function executeOnRuntime(
  runtime: RuntimeUnderTest,
  harness: TestHarness,
  { agent = "", prompt = "hello", options, env, onMessage }: RuntimeExecutionOptions = {},
): Promise<RuntimeExecution> {
  const yaml = agent.includes("permission_mode")
    ? agent
    : `permission_mode: bypassPermissions\n${agent}`;
  const execution: RuntimeExecution = {
    messages: [],
    exit: undefined,
    stderr: "",
    harness: harness,
  };
  const setup = (await runtime.setUp?.(harness, yaml)) ?? {
    agent: agentOf(loadTestFleet(inlineAgent(yaml)), "one"),
    runtime: runtime.create(),
    options: {},
    env: {},
  };
  const run = setup.runtime.execute({
    agent: setup.agent,
    prompt,
    session: { kind: "fresh", sessionId: randomUUID() },
    claude: claudeBinary(runtime.version),
    claudeVersion: `2.1.${runtime.version}`,
    cwd: harness.workspace,
    env: {
      ...harness.env,
      CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1",
      ...setup.env,
      ...env,
    },
    privateDir: join(harness.home, "private"),
    signal: new AbortController().signal,
    ...setup.options,
    ...options,
    observer: {
      ...options?.observer,
      onExited: (exit) => {
        execution.exit = exit;
      },
      onStderr: (text) => {
        execution.stderr += text;
      },
    },
  });
  for await (const message of run) {
    execution.messages.push(message);
    onMessage?.(message);
  }
  return execution;
}

/** A harness whose model obeys what it reads. */
export function startObedientHarness(): Promise<TestHarness> {
  return startHarness({ mode: "obedient" });
}

export function toolCallPrompt(...commands: [tool: string, input: object][]): string {
  return commands.map(([tool, input]) => `OBEY: ${tool} ${JSON.stringify(input)}`).join("\n");
}

type MessageOfType<T extends SDKMessage["type"]> = Extract<SDKMessage, { type: T }>;

export function messagesOfType<T extends SDKMessage["type"]>(
  messages: SDKMessage[],
  type: T,
): MessageOfType<T>[] {
  return messages.filter((message): message is MessageOfType<T> => message.type === type);
}

export function resultOf(messages: SDKMessage[]): MessageOfType<"result"> | undefined {
  return messagesOfType(messages, "result").at(-1);
}

export function initOf(messages: SDKMessage[]) {
  return messagesOfType(messages, "system").find((message) => message.subtype === "init");
}

/** The text of every tool result, in order. */
export function toolResultTexts(messages: SDKMessage[]): string[] {
  return messagesOfType(messages, "user").flatMap(({ message }) =>
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
