import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { ContainerSeen } from "../container/container-end.ts";
import { BackgroundTasks } from "./background-tasks.ts";
import { confirmSettings } from "./confirm-settings.ts";
import type { ExecuteOptions, RuntimeObserver } from "./interface.ts";
import { MessageQueue } from "./message-queue.ts";
import type { OpenClaude, OpeningRuntime } from "./open-claude.ts";
import { userMessage } from "./user-message.ts";

interface Turn {
  options: ExecuteOptions;
  messages: MessageQueue<SDKMessage>;
  tasks: BackgroundTasks;
}

/** One `claude` over several turns of its session; each turn hears and is asked what is its own. */
export class LiveClaude {
  private current: Turn | undefined;
  private last: Turn | undefined;
  private hasEnded = false;
  private isUnused = true;
  private failure: { error: unknown } | undefined;
  private claude: OpenClaude | undefined;
  /** Claude Code has all of its settings. */
  private confirmed: Promise<void> = Promise.resolve();
  private container: ContainerSeen | undefined;
  private readonly warnings: string[] = [];
  private endGone: () => void = () => undefined;
  /** It has exited, or spoke when nobody had asked it and is sent away. */
  readonly gone = new Promise<void>((resolve) => {
    this.endGone = resolve;
  });

  private constructor(
    private readonly sessionId: string,
    first: ExecuteOptions,
  ) {
    this.current = turnOf(first);
  }

  static async open(runtime: OpeningRuntime, options: ExecuteOptions): Promise<LiveClaude> {
    const live = new LiveClaude(options.session.sessionId, options);
    const relays = live.relays(options);
    live.claude = await runtime.open({ ...options, ...relays });
    live.confirmed = confirmSettings(live.claude, live.claude.settings, relays);
    // Thrown when the first turn is to begin.
    live.confirmed.catch(() => undefined);
    void live.listen(live.claude);
    return live;
  }

  get isWaiting(): boolean {
    return (this.current === undefined || this.isUnused) && !this.hasEnded;
  }

  async *turn(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    const { signal } = options;
    // What it says before its first prompt is a part of the first turn.
    const turn = this.current ?? turnOf(options);
    if (this.current?.options !== options) this.retell(options.observer);
    turn.options = options;
    this.isUnused = false;
    const stop = () => {
      if (this.current === turn) this.claude?.stop();
    };
    this.current = turn;
    if (this.hasEnded) turn.messages.end();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      await this.confirmed;
      this.claude?.say(userMessage(options));
      yield* turn.messages;
      if (this.failure) throw this.failure.error;
      if (!this.isWaiting) await this.claude?.exited;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async isOutOfDate(): Promise<boolean> {
    return (await this.claude?.around?.isOutOfDate()) ?? false;
  }

  async isUsedUp(): Promise<boolean> {
    return (await this.claude?.around?.isUsedUp()) ?? false;
  }

  async close(): Promise<void> {
    this.hasEnded = true;
    await this.claude?.close();
  }

  /** What was seen of its container at the start holds for every turn. */
  private retell(observer: RuntimeObserver = {}): void {
    if (this.container) observer.container?.(this.container);
    for (const text of this.warnings) observer.warning?.(text);
  }

  private async listen({ messages }: OpenClaude): Promise<void> {
    try {
      for await (const message of messages) this.hear(message);
    } catch (error) {
      this.failure = { error };
    } finally {
      this.hasEnded = true;
      this.current?.messages.end();
      this.endGone();
    }
  }

  private hear(message: SDKMessage): void {
    const turn = this.current;
    if (!turn) {
      this.hearUnasked(message);
      return;
    }
    turn.messages.push(message);
    if (turn.tasks.isLastWord(message)) this.endTurn(turn, message);
  }

  private endTurn(turn: Turn, lastWord: SDKMessage): void {
    const { options, messages } = turn;
    if (!options.stays || options.signal.aborted || !this.endedWell(lastWord)) {
      this.claude?.finish();
      return;
    }
    this.current = undefined;
    this.last = turn;
    options.observer?.waits?.();
    messages.end();
  }

  /** A prompt may have begun another session: that one nobody knows. */
  private endedWell(message: SDKMessage): boolean {
    if (message.type !== "result" || message.session_id !== this.sessionId) return false;
    return message.subtype === "success" && !message.is_error;
  }

  /** A turn that it takes by itself would be nobody's job and nobody's cost. */
  private hearUnasked(message: SDKMessage): void {
    const isHarmless = message.type === "system" && !telling.has(message.subtype);
    if (isHarmless || message.type === "rate_limit_event") return;
    this.hasEnded = true;
    this.claude?.stop();
    this.endGone();
  }

  /** What it was opened with once, and what is meant for the turn of the moment. */
  private relays(first: ExecuteOptions): Pick<ExecuteOptions, "observer" | "onPermission"> {
    const now = (): RuntimeObserver => this.current?.options.observer ?? {};
    const onPermission: ExecuteOptions["onPermission"] = async (request, signal) =>
      (await this.current?.options.onPermission?.(request, signal)) ?? {
        behavior: "deny",
        message: "Nobody can be asked for permission.",
      };
    return {
      onPermission: first.onPermission && onPermission,
      observer: {
        spawned: (pid, group) => now().spawned?.(pid, group),
        activity: () => now().activity?.(),
        isCaughtUp: () => now().isCaughtUp?.() ?? true,
        stderr: (text) => now().stderr?.(text),
        serverSpawned: (pid) => now().serverSpawned?.(pid),
        serverNote: (text) => now().serverNote?.(text),
        exited: (exit) => now().exited?.(exit),
        container: (container) => {
          this.container = container;
          // Its end may be for the sake of the turn that was the last one.
          (this.current ?? this.last)?.options.observer?.container?.(container);
        },
        warning: (text) => {
          this.warnings.push(text);
          now().warning?.(text);
        },
      },
    };
  }
}

const telling = new Set<string>(["init", "session_writes_lost"]);

function turnOf(options: ExecuteOptions): Turn {
  return { options, messages: new MessageQueue(), tasks: new BackgroundTasks() };
}
