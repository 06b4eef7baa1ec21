import type { SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { BackgroundTasks } from "./background-tasks.ts";
import type { ClaudeSettings } from "./claude-settings.ts";
import { confirmSettings } from "./confirm-settings.ts";
import type { ExecuteOptions, RuntimeInterface } from "./interface.ts";
import { userMessage } from "./user-message.ts";

/** A `claude` that is up: it takes one prompt after the other. */
export interface OpenClaude {
  /** All that it says, from its first turn to its end. */
  readonly messages: AsyncIterable<SDKMessage>;
  readonly exited: Promise<unknown>;
  /** The settings that it was started with; in a container they hold the container's paths. */
  readonly settings: ClaudeSettings;
  /** Its answer to `get_settings`; undefined when it ends without one. */
  readSettings(): Promise<unknown>;
  say(message: SDKUserMessage): void;
  /** Ends its turn, and itself: by asking, by closing its input, by force. */
  stop(): void;
  /** It has had its last word and may go. */
  finish(): void;
  /** After that nothing of it is left. */
  close(): Promise<void>;
  /** Of one in a container. */
  around?: Surroundings;
}

interface Surroundings {
  /** One that is started now would find something else. */
  isOutOfDate(): Promise<boolean>;
  /** After what happened in it, it is not for another turn. */
  isUsedUp(): Promise<boolean>;
}

/** A runtime whose `claude` can be given more than one prompt. */
export interface OpeningRuntime extends RuntimeInterface {
  open(options: ExecuteOptions): Promise<OpenClaude>;
}

/** One prompt, up to the end of the process. */
export async function* runOnce(
  claude: OpenClaude,
  options: ExecuteOptions,
): AsyncGenerator<SDKMessage> {
  const { signal } = options;
  const stop = () => claude.stop();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await confirmSettings(claude, claude.settings, options);
    claude.say(userMessage(options));
    const tasks = new BackgroundTasks();
    for await (const message of claude.messages) {
      if (tasks.isLastWord(message)) claude.finish();
      yield message;
    }
    await claude.exited;
  } finally {
    signal.removeEventListener("abort", stop);
    await claude.close();
  }
}
