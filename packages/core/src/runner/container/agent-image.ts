import { UserError } from "../../errors/user-error.ts";
import { sdkClaudeVersion } from "../sdk-claude.ts";

/** Which `claude` an image carries stands on it, and by which rules its launcher works. */
export const imageLabels = { contract: "herdctl.image", claude: "herdctl.claude" } as const;

/** Changes when an image that was built earlier could no longer be launched by us. */
export const imageContract = "1";

export interface AgentImage {
  name: string;
  /** The version that belongs to our SDK. */
  claude: string;
}

/** The image that `herdctl docker build` makes, and that agents run in unless they name another. */
export function agentImage(): AgentImage {
  const claude = sdkClaudeVersion();
  if (claude === undefined) {
    throw new UserError("sdk_missing", "The Agent SDK is not installed, so no image fits to it.", {
      hint: "Install it with `npm install @anthropic-ai/claude-agent-sdk`.",
    });
  }
  return { name: `herdctl/agent:${claude}`, claude };
}
