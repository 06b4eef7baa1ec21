import { z } from "zod";
import { checkedText, InvalidValue } from "../codec.ts";
import { count } from "../quantities.ts";
import { hostPath, nonEmptyText } from "../strings.ts";
import {
  fleetOnly,
  free,
  granted,
  keepsValue,
  stricter,
  stricterThanFleet,
  type WeaknessCheck,
} from "../trust.ts";
import { subagents } from "./subagents.ts";

const textList = z.array(nonEmptyText);

const compactionWindow = checkedText((text) => {
  const match = /^(\d+)(k|m)$/i.exec(text);
  const tokens = match ? Number(match[1]) * (match[2]?.toLowerCase() === "m" ? 1e6 : 1000) : 0;
  if (text === "auto" || (tokens >= 100_000 && tokens <= 1_000_000)) return undefined;
  return new InvalidValue(
    `"${text}" is not a compaction window`,
    "Write `auto`, or a number of tokens from `100k` to `1M`.",
  );
});

const serverToolName = checkedText((text) =>
  /^mcp__.+__.+$/.test(text)
    ? undefined
    : new InvalidValue(
        `"${text}" is not a tool of an MCP server`,
        "Write `mcp__SERVER__TOOL` with the name of one of `mcp_servers`.",
      ),
);

/** `default` includes every list, and every list includes `none`. */
const isFewerTools: WeaknessCheck = (limit, claimed) => {
  if (limit === undefined || limit === "default" || claimed === "none") return true;
  if (!Array.isArray(limit) || !Array.isArray(claimed)) return false;
  return claimed.every((tool) => limit.includes(tool));
};

/** Options of Claude Code that an agent passes on. */
export const claudeFields = {
  subagents: free(subagents.prefault({}).describe("Subagents that the agent can call, by name.")),
  main_agent: free(
    nonEmptyText
      .optional()
      .describe("Subagent whose prompt, tools and model the session itself uses."),
  ),
  subagent_prompt: free(
    nonEmptyText.optional().describe("Text added to the system prompt of every subagent."),
  ),
  skills: free(
    z
      .union([z.enum(["all", "none"]), textList.min(1)])
      .optional()
      .describe(
        "Skills the agent may use without asking: `all`, `none`, or names such as `pdf` or `plugin:skill`. Default: Claude Code asks.",
      ),
  ),
  builtin_tools: stricterThanFleet(
    z
      .union([z.enum(["default", "none"]), textList.min(1)])
      .optional()
      .describe("Built-in tools that exist for the agent: `default`, `none`, or their names."),
    isFewerTools,
  ),
  tool_aliases: free(
    z
      .record(nonEmptyText, nonEmptyText)
      .prefault({})
      .describe("Names of tools that call another tool, such as `Bash: mcp__remote__bash`."),
  ),
  additional_directories: granted(
    z
      .array(hostPath)
      .prefault([])
      .describe(
        "Further folders for the agent's file tools. A container gets them read-only, unless `docker.volumes` mounts them.",
      ),
    "folder",
  ),
  project_config_root: fleetOnly(
    hostPath
      .optional()
      .describe("Trusted checkout whose project settings apply instead of the workspace's."),
    "its settings can run programs",
  ),
  permission_prompts: stricter(
    z
      .enum(["host", "none"])
      .prefault("host")
      .describe("`none`: whatever needs permission is denied, and the agent cannot ask questions."),
    keepsValue("none"),
  ),
  permission_prompt_tool: fleetOnly(
    serverToolName
      .optional()
      .describe("Tool of an MCP server that decides on permissions instead of a person."),
    "it decides on permissions",
  ),
  restricted: stricter(
    z
      .boolean()
      .prefault(false)
      .describe(
        "No tools that run commands or fetch pages unless `builtin_tools` names them, and file tools only inside the agent's folders.",
      ),
    keepsValue(true),
  ),
  thinking: free(
    z
      .union([
        z.enum(["adaptive", "disabled"]),
        z.strictObject({ budget_tokens: free(count.min(1024).describe("Tokens for thinking.")) }),
      ])
      .optional()
      .describe("How the model thinks; some models ignore `disabled` and `budget_tokens`."),
  ),
  thinking_display: free(
    z
      .enum(["summarized", "omitted"])
      .optional()
      .describe("Whether thinking is shown as a summary or not at all."),
  ),
  fast_mode: free(
    z.boolean().prefault(false).describe("Faster output at a higher price, where available."),
  ),
  betas: free(
    z.array(nonEmptyText).prefault([]).describe("Beta features of the API, by their header."),
  ),
  task_budget: free(
    count.optional().describe("Tokens that the model is told to spend on a task; not a limit."),
  ),
  max_output_tokens: free(count.optional().describe("Maximum number of tokens in a reply.")),
  autocompact: free(
    compactionWindow
      .optional()
      .describe("Size of the conversation at which it is compacted: `auto`, or such as `200k`."),
  ),
  tool_search: free(
    z
      .boolean()
      .optional()
      .describe("`false`: the model gets the description of every tool from the start."),
  ),
  plan_instructions: free(
    nonEmptyText.optional().describe("How to plan, instead of Claude Code's steps of plan mode."),
  ),
  title: free(nonEmptyText.optional().describe("Title of new sessions.")),
  debug: free(
    z
      .boolean()
      .prefault(false)
      .describe("Write a debug log to `debug/` in Claude Code's folder; it can contain secrets."),
  ),
  extra_args: fleetOnly(
    z
      .record(nonEmptyText, z.union([z.literal(true), z.string(), z.number()]))
      .prefault({})
      .describe(
        "Further flags of `claude` without their dashes; `true` for flags without a value.",
      ),
    "any flag is possible",
  ),
};
