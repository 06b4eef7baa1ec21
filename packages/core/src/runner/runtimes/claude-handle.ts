import type { SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { isOlder } from "../../claude/binary.ts";
import type { RequestedSettings } from "./applied-settings.ts";
import { confirmStart } from "./confirm-start.ts";
import type { ExecuteOptions, RuntimeInterface } from "./runtime-interface.ts";

/** A running `claude` that accepts prompts one after the other. */
export interface ClaudeHandle extends RequestedSettings {
  /** All messages, from the first turn to the exit. */
  readonly messages: AsyncIterable<SDKMessage>;
  readonly exited: Promise<unknown>;
  /** The response to `initialize`, or `{ error }`; undefined if `claude` exits without one. */
  readInitialization(): Promise<unknown>;
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
  opening: Promise<ClaudeHandle>,
  options: ExecuteOptions,
): AsyncGenerator<SDKMessage> {
  const claude = await opening;
  const { signal } = options;
  const stop = () => claude.stop();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await confirmStart(claude, options);
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

/**
 * An unbounded queue between the reader of claude's output and its consumer. The reader must never
 * wait, because an older claude loses output that a slow reader leaves unread.
 */
export class MessageQueue<T> implements AsyncIterable<T> {
  private readonly queued: T[] = [];
  private wake: (() => void) | undefined;
  private hasEnded = false;

  push(message: T): void {
    this.queued.push(message);
    this.wake?.();
  }

  end(): void {
    this.hasEnded = true;
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      yield* this.queued.splice(0);
      if (this.queued.length > 0) continue;
      if (this.hasEnded) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

/**
 * Builds the message for a prompt. By default, the prompt is sent verbatim; otherwise Claude Code
 * would include files named with `@path` and run a leading `/command`.
 */
export function buildUserMessage({
  prompt,
  expandsReferences = false,
  claudeVersion,
}: Pick<ExecuteOptions, "prompt" | "expandsReferences" | "claudeVersion">): SDKUserMessage {
  const envelope = { type: "user" as const, parent_tool_use_id: null, session_id: "" };
  // defence: verbatim-prompt
  if (expandsReferences) return { ...envelope, message: { role: "user", content: prompt } };
  const supportsClientComposed = claudeVersion && !isOlder(claudeVersion, minClientComposedVersion);
  const content = /* defence: verbatim-text-block */ supportsClientComposed
    ? prompt
    : [textBlock(prompt), textBlock(closingText)];
  return { ...envelope, client_composed: true, message: { role: "user", content } };
}

/** Older versions ignore the field `client_composed`. */
const minClientComposedVersion = "2.1.248";

/** All versions only expand the last text block, so older versions get this one after the prompt. */
const closingText = "(The text above is the whole prompt, as it was written.)";

function textBlock(text: string) {
  return { type: "text" as const, text };
}

/**
 * Detects the end of a run. A result ends a turn, but the run continues while a background shell or
 * agent is working: claude starts another turn when it is done, and may need us for it.
 */
export class BackgroundTasks {
  private readonly openTaskIds = new Set<string>();

  /** True if this message ends the run. */
  isFinalMessage(message: SDKMessage): boolean {
    this.track(message);
    return message.type === "result" && this.openTaskIds.size === 0;
  }

  private track(message: SDKMessage): void {
    if (message.type !== "system") return;
    if (message.subtype === "background_tasks_changed") {
      this.openTaskIds.clear();
      for (const task of message.tasks) this.openTaskIds.add(task.task_id);
    }
    if (message.subtype === "task_notification") this.openTaskIds.delete(message.task_id);
  }
}
