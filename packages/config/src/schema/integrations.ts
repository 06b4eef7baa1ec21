import { z } from "zod";
import { checkedText, InvalidValue } from "./codec.ts";
import { duration } from "./quantities.ts";
import { nonEmptyText, scalarText, stringMap, url, variableName } from "./strings.ts";
import { block, fleetOnly, free } from "./trust.ts";

const run = z
  .enum(["host", "container"])
  .prefault("host")
  .describe("Where the server runs if the agent runs in Docker.");

const required = z
  .boolean()
  .optional()
  .describe(
    "Stop the run if the server does not start. Default: true if `allowed_tools` names the server.",
  );

const sharedFields = {
  run: free(run),
  required: free(required),
  timeout: free(
    duration.optional().describe("Maximum duration of a tool call; at least one second."),
  ),
  always_load: free(
    z
      .boolean()
      .optional()
      .describe("Give the model the description of every tool of the server from the start."),
  ),
  tool_policy: free(
    z
      .record(nonEmptyText, z.enum(["allow", "ask", "deny"]))
      .optional()
      .describe(
        "Tools of the server that are allowed, asked for or denied, whatever else applies.",
      ),
  ),
};

const stdioServer = block({
  command: free(nonEmptyText.describe("Program to start.")),
  args: free(z.array(scalarText).prefault([]).describe("Arguments of the program.")),
  env: free(stringMap.prefault({}).describe("Environment variables of the program.")),
  ...sharedFields,
});

const remoteServer = block({
  type: free(z.enum(["http", "sse"]).describe("Transport.")),
  url: free(url("https", "http").describe("URL of the server.")),
  headers: free(stringMap.prefault({}).describe("Headers to send with each request.")),
  ...sharedFields,
});

/** A server in `mcp_servers` of an agent. */
export const mcpServer = z.union([stdioServer, remoteServer]);

const workSourceField = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "it uses the fleet's token");

const repository = checkedText((text) =>
  /^[\w.-]+\/[\w.-]+$/.test(text)
    ? undefined
    : new InvalidValue(`"${text}" is not a repository`, "Write `owner/name`."),
);

export const workSource = block({
  type: workSourceField(z.literal("github")),
  repo: workSourceField(repository.describe("Repository whose issues are worked on.")),
  labels: workSourceField(
    z.array(nonEmptyText).min(1).describe("Labels an issue must have to be claimed."),
  ),
  exclude_labels: workSourceField(
    z.array(nonEmptyText).prefault([]).describe("Labels an issue must not have."),
  ),
  token_env: workSourceField(
    variableName.prefault("GITHUB_TOKEN").describe("Environment variable with the token."),
  ),
  claimed_label: workSourceField(
    nonEmptyText.prefault("in-progress").describe("Label of a claimed issue."),
  ),
  on_success: workSourceField(
    z
      .enum(["close", "label"])
      .prefault("close")
      .describe("Action on the issue when its job succeeds."),
  ),
  done_label: workSourceField(
    nonEmptyText.prefault("done").describe("Label set by `on_success: label`."),
  ),
  failed_label: workSourceField(
    nonEmptyText
      .prefault("herdctl-failed")
      .describe("Label of an issue whose jobs failed three times."),
  ),
  stale_after: workSourceField(
    duration.prefault("24h").describe("Age after which a claim is released."),
  ),
  base_url: workSourceField(
    url("https", "http").prefault("https://api.github.com").describe("URL of the API."),
  ),
});

const chatField = <T extends z.ZodType>(schema: T) =>
  fleetOnly(schema, "it decides who can talk to the agent, where, and with which token");

const mode = z
  .enum(["mention", "auto"])
  .describe("`mention`: answer when mentioned. `auto`: answer every message.");

const idList = z.array(nonEmptyText).prefault([]);

const commonChatFields = {
  token_env: chatField(variableName.describe("Environment variable with the bot's token.")),
  mode: chatField(mode.prefault("mention")),
  direct_message_mode: chatField(mode.prefault("auto").describe("`mode` for direct messages.")),
  channels: chatField(
    z
      .record(nonEmptyText, block({ mode: chatField(mode.optional()) }))
      .prefault({})
      .describe("Channels in which the agent listens, by id. Default: all channels."),
  ),
  context_messages: chatField(
    z
      .int()
      .min(0)
      .max(100)
      .prefault(10)
      .describe("Number of earlier messages to include in the prompt."),
  ),
  users: chatField(idList.describe("Ids of users who may talk to the agent; `*` allows everyone.")),
  direct_message_users: chatField(
    idList.describe("Ids of users who may send direct messages. Default: none."),
  ),
  approvers: chatField(idList.describe("Ids of users who may decide on permission requests.")),
  rule_approvers: chatField(
    idList.describe("Ids of approvers who may also allow a request always, which writes a rule."),
  ),
  session_expires: chatField(
    duration.prefault("24h").describe("Idle time after which a conversation starts a new session."),
  ),
  footer: chatField(z.boolean().prefault(false).describe("Show cost and duration below answers.")),
};

const discord = block({
  ...commonChatFields,
  base_url: chatField(
    url("https", "http").prefault("https://discord.com/api").describe("URL of the API."),
  ),
  guilds: chatField(idList.describe("Ids of Discord servers in which the agent listens.")),
  roles: chatField(idList.describe("Ids of roles whose members may talk to the agent.")),
});

const slack = block({
  ...commonChatFields,
  app_token_env: chatField(variableName.describe("Environment variable with the app-level token.")),
  base_url: chatField(
    url("https", "http").prefault("https://slack.com/api/").describe("URL of the API."),
  ),
  workspaces: chatField(idList.describe("Ids of workspaces in which the agent listens.")),
});

export const chat = block({
  discord: chatField(discord.optional().describe("Discord bot of the agent.")),
  slack: chatField(slack.optional().describe("Slack app of the agent.")),
});
