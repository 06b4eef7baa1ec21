import { z } from "zod";
import { sandbox } from "./sandbox.ts";
import { hostPath } from "./strings.ts";
import { fleetOnly } from "./trust.ts";

/** Checked by `claude-settings/check-settings.ts`, against the types of the Agent SDK. */
const settingsBlock = z.record(z.string(), z.unknown());
const settingsOrFile = z.union([hostPath, settingsBlock]);

/** The fields of an agent that become settings of Claude Code. */
export const claudeSettingsFields = {
  settings: fleetOnly(
    settingsOrFile
      .optional()
      .describe("Claude Code settings: a block, or the path of a JSON file with them."),
    "its rules and hooks could call MCP servers on the host without asking",
  ),
  claude_hooks: fleetOnly(
    settingsBlock
      .optional()
      .describe(
        "Hooks of Claude Code, by event, as in its settings. A hook whose program is missing blocks the tool.",
      ),
    "a hook can call MCP servers on the host without asking",
  ),
  policy: fleetOnly(
    settingsOrFile
      .optional()
      .describe(
        "Claude Code settings that bind every other source, such as `permissions.deny`: a block, or the path of a JSON file.",
      ),
    "it would replace the restrictions of the fleet file",
  ),
  sandbox: fleetOnly(
    sandbox
      .optional()
      .describe("Run commands of the agent in Claude Code's sandbox, without Docker."),
    "Claude Code has no sandbox in a container",
  ),
};
