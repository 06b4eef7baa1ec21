import { formatCountOf } from "../../ui/format-quantities.ts";
import type { ConfigValueReader } from "./config-value-reader.ts";
import type { PostureStatement } from "./posture-statement.ts";

export function describeTriggers(settings: ConfigValueReader): PostureStatement[] {
  return [
    {
      text: "Anyone with access to the fleet's socket or an API token, such as with `herdctl trigger`.",
      weight: "plain",
    },
    ...settings.names("schedules").map((name) => scheduleStatement(settings, name)),
    ...["discord", "slack"].flatMap((platform) => chatStatements(settings, platform)),
    ...workSourceStatements(settings),
  ];
}

function scheduleStatement(settings: ConfigValueReader, name: string): PostureStatement {
  const at = (key: string) => settings.text(`schedules.${name}.${key}`);
  const type = at("type");
  const disabledNote = at("enabled") === "false" ? " (disabled)" : "";
  if (type === "webhook") {
    const kind = at("signature.kind") ?? "as configured";
    return {
      text: `Webhook \`${name}\`${disabledNote}: deliveries with a valid signature (${kind}).`,
      weight: "plain",
    };
  }
  const when = at("every") ?? at("cron") ?? at("at") ?? "";
  return { text: `Schedule \`${name}\`${disabledNote}: ${type} ${when}.`, weight: "plain" };
}

function chatStatements(settings: ConfigValueReader, platform: string): PostureStatement[] {
  const at = `chat.${platform}`;
  if (settings.text(`${at}.token_env`) === undefined) return [];
  const users = settings.list(`${at}.users`);
  const isOpen = users.includes("*");
  const audience = isOpen
    ? "everyone"
    : users.length > 0
      ? formatCountOf(users.length, "named user")
      : "users with the configured roles";
  return [
    {
      text: `On ${platform === "slack" ? "Slack" : "Discord"}: ${audience}.`,
      weight: isOpen ? "open" : "plain",
    },
  ];
}

function workSourceStatements(settings: ConfigValueReader): PostureStatement[] {
  const repo = settings.text("work_source.repo");
  if (repo === undefined) return [];
  const labels = settings.list("work_source.labels").map((label) => `\`${label}\``);
  return [
    { text: `Anyone who can label issues of ${repo} with ${labels.join(", ")}.`, weight: "open" },
  ];
}
