import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { ExecuteOptions, RuntimeInterface } from "./interface.ts";
import { LiveClaude } from "./live-claude.ts";
import type { OpeningRuntime } from "./open-claude.ts";

/** Leaves its `claude` up after a turn that ended well, for the next turn of the same session. */
export class LiveRuntime implements RuntimeInterface {
  private claude: LiveClaude | undefined;

  constructor(private readonly runtime: OpeningRuntime) {}

  /** A `claude` is up and waits for its next prompt. */
  get isWaiting(): boolean {
    return this.claude?.isWaiting ?? false;
  }

  /** Resolves when none waits any more. */
  get gone(): Promise<void> {
    return this.claude?.gone ?? Promise.resolve();
  }

  /** Starts one that waits for its first prompt. */
  async open(options: ExecuteOptions): Promise<void> {
    this.claude = await LiveClaude.open(this.runtime, options);
  }

  /** Where one waits, all that shaped it must be as it was: it is not started anew. */
  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    const claude = this.claude ?? (await LiveClaude.open(this.runtime, options));
    this.claude = claude;
    try {
      yield* claude.turn(options);
    } finally {
      if (!this.isWaiting) await this.end();
    }
  }

  /** What would be up now is not what is. */
  async isOutOfDate(): Promise<boolean> {
    return (await this.claude?.isOutOfDate()) ?? false;
  }

  async endIfUsedUp(): Promise<void> {
    if (await this.claude?.isUsedUp()) await this.end();
  }

  async end(): Promise<void> {
    const { claude } = this;
    this.claude = undefined;
    await claude?.close();
  }
}
