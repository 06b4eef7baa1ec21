import { UserError } from "@herdctl/protocol";
import { sdkClaudeVersion } from "../claude/sdk-binary.ts";

/** Labels of an agent image: the version of `claude`, and of the contract with its launcher. */
export const imageLabels = { contract: "herdctl.image", claude: "herdctl.claude" } as const;

/** Changes when images built earlier can no longer be launched. */
export const imageContractVersion = "1";

export interface AgentImage {
  name: string;
  /** The Claude Code version of the installed SDK. */
  claude: string;
}

/** The image that `herdctl docker build` builds; the default for agents in Docker. */
export function resolveAgentImage(): AgentImage {
  const claude = sdkClaudeVersion();
  if (claude === undefined) {
    throw new UserError(
      "sdk_missing",
      "The Agent SDK is not installed. The agent image needs it.",
      {
        hint: "Install it with `npm install @anthropic-ai/claude-agent-sdk`.",
      },
    );
  }
  return { name: `herdctl/agent:${claude}`, claude };
}
