import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { RunContainer, type RunSite } from "../container/run-container.ts";
import { findResidents, isUsedUp } from "../container/watch-residents.ts";
import type { ExecuteOptions } from "./interface.ts";
import { type OpenClaude, type OpeningRuntime, runOnce } from "./open-claude.ts";

/** A `claude` in a container of its own that takes one prompt after the other; both end together. */
export class ContainedOpening implements OpeningRuntime {
  constructor(
    private readonly runtime: OpeningRuntime,
    private readonly site: RunSite,
  ) {}

  async *execute(options: ExecuteOptions): AsyncGenerator<SDKMessage> {
    yield* runOnce(await this.open(options), options);
  }

  async open(options: ExecuteOptions): Promise<OpenClaude> {
    const container = await RunContainer.open(this.site, options);
    try {
      const claude = await this.runtime.open(container.options);
      // Nobody has said a word to it yet; meanwhile it starts.
      const residents = await findResidents(container.manager, container.id);
      return contained(claude, container, () =>
        isUsedUp(container.manager, container.id, residents),
      );
    } catch (error) {
      await container.remove();
      throw error;
    }
  }
}

function contained(
  claude: OpenClaude,
  container: RunContainer,
  isUsedUpNow: () => Promise<boolean>,
): OpenClaude {
  return {
    messages: claude.messages,
    get exited() {
      return claude.exited;
    },
    settings: claude.settings,
    readSettings: () => claude.readSettings(),
    say: (message) => claude.say(message),
    stop: () => claude.stop(),
    finish: () => claude.finish(),
    close: async () => {
      try {
        await claude.close();
      } finally {
        await container.remove();
      }
    },
    around: { isOutOfDate: () => container.isOutOfDate(), isUsedUp: isUsedUpNow },
  };
}
