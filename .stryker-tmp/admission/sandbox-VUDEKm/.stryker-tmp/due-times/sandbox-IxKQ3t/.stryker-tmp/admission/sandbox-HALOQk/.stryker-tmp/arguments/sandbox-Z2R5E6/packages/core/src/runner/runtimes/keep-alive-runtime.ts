import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { MultiTurnRuntime } from "./claude-handle.ts";
import { KeepAliveClaude } from "./keep-alive-claude.ts";
import type { ExecuteOptions, RuntimeInterface } from "./runtime-interface.ts";

/** Keeps `claude` running after a successful turn, for the next turn of the same session. */
export class KeepAliveRuntime implements RuntimeInterface {
  private claude: KeepAliveClaude | undefined;

  constructor(private readonly runtime: MultiTurnRuntime) {}

  /** Whether a `claude` is waiting for its next prompt. */
  get isIdle(): boolean {
    return this.claude?.isIdle ?? false;
  }

  /** Resolves when no `claude` is waiting any more. */
  get gone(): Promise<void> {
    return this.claude?.gone ?? Promise.resolve();
  }

  /** Starts a `claude` that waits for its first prompt. */
  async open(options: ExecuteOptions): Promise<void> {
    this.claude = await KeepAliveClaude.open(this.runtime, options);
  }

  /** Uses the waiting `claude` if there is one. The caller checks that its startup inputs are unchanged. */
  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    const claude = this.claude ?? (await KeepAliveClaude.open(this.runtime, options));
    this.claude = claude;
    try {
      yield* claude.turn(options);
    } finally {
      if (!this.isIdle) await this.end();
    }
  }

  /** Whether a `claude` started now would get a different container. */
  async isOutdated(): Promise<boolean> {
    return (await this.claude?.isOutdated()) ?? false;
  }

  async endIfUnusable(): Promise<void> {
    if (await this.claude?.isUnusable()) await this.end();
  }

  async end(): Promise<void> {
    const { claude } = this;
    this.claude = undefined;
    await claude?.close();
  }
}
