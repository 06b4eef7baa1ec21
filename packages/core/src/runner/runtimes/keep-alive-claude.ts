import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { ContainerObservation } from "../../docker/container-manager.ts";
import {
  BackgroundTasks,
  buildUserMessage,
  type ClaudeHandle,
  MessageQueue,
  type MultiTurnRuntime,
} from "./claude-handle.ts";
import { confirmStart } from "./confirm-start.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";
import type { RuntimeObserver } from "./spawn-claude.ts";

interface Turn {
  options: ExecuteOptions;
  messages: MessageQueue<SDKMessage>;
  tasks: BackgroundTasks;
}

/** One `claude` for several turns of its session. Messages and requests go to the current turn. */
export class KeepAliveClaude {
  private currentTurn: Turn | undefined;
  private lastTurn: Turn | undefined;
  private hasEnded = false;
  private isUnused = true;
  private failure: { error: unknown } | undefined;
  private claude: ClaudeHandle | undefined;
  /** Resolves once Claude Code has applied all options. */
  private startConfirmed: Promise<void> = Promise.resolve();
  private container: ContainerObservation | undefined;
  private readonly warnings: string[] = [];
  private resolveGone: () => void = () => undefined;
  /** Resolves when `claude` has exited, or is stopped because it sent a message between turns. */
  readonly gone = new Promise<void>((resolve) => {
    this.resolveGone = resolve;
  });

  private constructor(
    private readonly sessionId: string,
    first: ExecuteOptions,
  ) {
    this.currentTurn = createTurn(first);
  }

  static async open(runtime: MultiTurnRuntime, options: ExecuteOptions): Promise<KeepAliveClaude> {
    const opened = new KeepAliveClaude(options.session.sessionId, options);
    const relay = opened.relayToCurrentTurn(options);
    opened.claude = await runtime.open({ ...options, ...relay });
    opened.startConfirmed = confirmStart(opened.claude, relay);
    // Thrown when the first turn starts.
    opened.startConfirmed.catch(() => undefined);
    void opened.consumeMessages(opened.claude);
    return opened;
  }

  /** A person gave rules for one job, so `claude` must not take the next one. */
  private hasExtraRules = false;

  get isIdle(): boolean {
    return (this.currentTurn === undefined || this.isUnused) && !this.hasEnded;
  }

  async *turn(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    const { signal } = options;
    // Messages before the first prompt belong to the first turn.
    const turn = this.currentTurn ?? createTurn(options);
    if (this.currentTurn?.options !== options) this.replayObservations(options.observer);
    turn.options = options;
    this.isUnused = false;
    const stop = () => {
      if (this.currentTurn === turn) this.claude?.stop();
    };
    this.currentTurn = turn;
    if (this.hasEnded) turn.messages.end();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      await this.startConfirmed;
      this.claude?.sendMessage(buildUserMessage(options));
      yield* turn.messages;
      if (this.failure) throw this.failure.error;
      if (!this.isIdle) await this.claude?.exited;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async isOutdated(): Promise<boolean> {
    return (await this.claude?.container?.isOutdated()) ?? false;
  }

  async isUnusable(): Promise<boolean> {
    return (await this.claude?.container?.isUnusable()) ?? false;
  }

  async close(): Promise<void> {
    this.hasEnded = true;
    await this.claude?.close();
  }

  /** Repeats the container and the warnings of the start for a later turn. */
  private replayObservations(observer: RuntimeObserver = {}): void {
    if (this.container) observer.onContainer?.(this.container);
    for (const text of this.warnings) observer.onWarning?.(text);
  }

  private async consumeMessages({ messages }: ClaudeHandle): Promise<void> {
    try {
      for await (const message of messages) this.handleMessage(message);
    } catch (error) {
      this.failure = { error };
    } finally {
      this.hasEnded = true;
      this.currentTurn?.messages.end();
      this.resolveGone();
    }
  }

  private handleMessage(message: SDKMessage): void {
    const turn = this.currentTurn;
    if (!turn) {
      this.handleUnexpectedMessage(message);
      return;
    }
    turn.messages.push(message);
    if (turn.tasks.isFinalMessage(message)) this.endTurn(turn, message);
  }

  private endTurn(turn: Turn, finalMessage: SDKMessage): void {
    const { options, messages } = turn;
    const isOver = !options.keepAlive || options.signal.aborted;
    const hasRules = /* defence: no-rules-between-jobs */ this.hasExtraRules;
    if (isOver || hasRules || !this.isSuccessfulResult(finalMessage)) {
      this.claude?.finish();
      return;
    }
    this.currentTurn = undefined;
    this.lastTurn = turn;
    options.observer?.onIdle?.();
    messages.end();
  }

  /** False also if the prompt started another session, which herdctl does not track. */
  private isSuccessfulResult(message: SDKMessage): boolean {
    if (message.type !== "result" || message.session_id !== this.sessionId) return false;
    return message.subtype === "success" && !message.is_error;
  }

  /** Stops `claude` if it starts a turn by itself, because no job would account for it. */
  private handleUnexpectedMessage(message: SDKMessage): void {
    const isHarmless = message.type === "system" && !significantSubtypes.has(message.subtype);
    if (isHarmless || message.type === "rate_limit_event") return;
    this.hasEnded = true;
    this.claude?.stop();
    this.resolveGone();
  }

  /** Callbacks for the whole process that forward to the current turn. */
  private relayToCurrentTurn(
    first: ExecuteOptions,
  ): Pick<ExecuteOptions, "observer" | "onPermission" | "onElicitation"> {
    const currentObserver = (): RuntimeObserver => this.currentTurn?.options.observer ?? {};
    const onPermission: ExecuteOptions["onPermission"] = async (request, signal) => {
      const answer = await this.currentTurn?.options.onPermission?.(request, signal);
      if (answer?.behavior === "allow" && answer.updatedPermissions) this.hasExtraRules = true;
      return answer ?? { behavior: "deny", message: "There is no person to ask for permission." };
    };
    const onElicitation: ExecuteOptions["onElicitation"] = async (request, signal) =>
      (await this.currentTurn?.options.onElicitation?.(request, signal)) ?? { action: "cancel" };
    return {
      onElicitation,
      onPermission: first.onPermission && onPermission,
      observer: {
        onSpawned: (pid) => currentObserver().onSpawned?.(pid),
        onActivity: () => currentObserver().onActivity?.(),
        isCaughtUp: () => currentObserver().isCaughtUp?.() ?? true,
        onStderr: (text) => currentObserver().onStderr?.(text),
        onServerSpawned: (pid) => currentObserver().onServerSpawned?.(pid),
        onServerNote: (text) => currentObserver().onServerNote?.(text),
        onExited: (exit) => currentObserver().onExited?.(exit),
        onContainer: (container) => {
          this.container = container;
          // Between turns, the end of the container belongs to the last turn.
          (this.currentTurn ?? this.lastTurn)?.options.observer?.onContainer?.(container);
        },
        onWarning: (text) => {
          this.warnings.push(text);
          currentObserver().onWarning?.(text);
        },
      },
    };
  }
}

const significantSubtypes = new Set<string>(["init", "session_writes_lost"]);

function createTurn(options: ExecuteOptions): Turn {
  return { options, messages: new MessageQueue(), tasks: new BackgroundTasks() };
}
