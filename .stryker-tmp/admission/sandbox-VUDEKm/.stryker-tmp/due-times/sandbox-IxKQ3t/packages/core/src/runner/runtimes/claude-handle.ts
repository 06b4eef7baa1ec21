import type { SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { assertSettingsApplied } from "./assert-settings-applied.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import type { ClaudeSettings } from "./claude-settings.ts";
import type { ExecuteOptions, RuntimeInterface } from "./runtime-interface.ts";
import { buildUserMessage } from "./user-message.ts";

/** A running `claude` that accepts prompts one after the other. */
export interface ClaudeHandle {
  /** All messages, from the first turn to the exit. */
  readonly messages: AsyncIterable<SDKMessage>;
  readonly exited: Promise<unknown>;
  /** The settings it was started with; in a container, they contain the container's paths. */
  readonly settings: ClaudeSettings;
  /** The response to `get_settings`; undefined if `claude` exits without one. */
  readSettings(): Promise<unknown>;
  sendMessage(message: SDKUserMessage): void;
  /** Stops the turn and the process: interrupts it, closes its input, then kills it. */
  stop(): void;
  /** Lets the process exit after its final message. */
  finish(): void;
  /** Resolves after the process has exited and its files are removed. */
  close(): Promise<void>;
  /** Only for `claude` in a container. */
  container?: ContainerChecks;
}

interface ContainerChecks {
  /** Whether a container created now would differ. */
  isOutdated(): Promise<boolean>;
  /** Whether the container cannot be used for another turn. */
  isUnusable(): Promise<boolean>;
}

/** A runtime whose `claude` accepts more than one prompt. */
export interface MultiTurnRuntime extends RuntimeInterface {
  open(options: ExecuteOptions): Promise<ClaudeHandle>;
}

/** Runs one prompt until the process exits. */
export async function* runSinglePrompt(
  claude: ClaudeHandle,
  options: ExecuteOptions,
): AsyncGenerator<SDKMessage> {
  const { signal } = options;
  const stop = () => claude.stop();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await assertSettingsApplied(claude, claude.settings, options);
    claude.sendMessage(buildUserMessage(options));
    const tasks = new BackgroundTasks();
    for await (const message of claude.messages) {
      if (tasks.isFinalMessage(message)) claude.finish();
      yield message;
    }
    await claude.exited;
  } finally {
    signal.removeEventListener("abort", stop);
    await claude.close();
  }
}
