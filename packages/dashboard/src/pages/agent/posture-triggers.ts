import type { Settings } from "./settings.ts";
import type { Statement } from "./statement.ts";

export function triggersOf(settings: Settings): Statement[] {
  return [
    {
      text: "Whoever may use the fleet's socket or has its token: `herdctl trigger`, this page.",
      weight: "plain",
    },
    ...settings.names("schedules").map((name) => bySchedule(settings, name)),
    ...["discord", "slack"].flatMap((platform) => byChat(settings, platform)),
    ...byWork(settings),
  ];
}

function bySchedule(settings: Settings, name: string): Statement {
  const at = (key: string) => settings.text(`schedules.${name}.${key}`);
  const type = at("type");
  const isOff = at("enabled") === "false" ? " (switched off)" : "";
  if (type === "webhook") {
    const kind = at("signature.kind") ?? "as configured";
    return {
      text: `Deliveries to the webhook \`${name}\`${isOff} that are signed (${kind}).`,
      weight: "plain",
    };
  }
  const when = at("every") ?? at("cron") ?? at("at") ?? "";
  return { text: `The clock, by \`${name}\`${isOff}: ${type} ${when}.`, weight: "plain" };
}

function byChat(settings: Settings, platform: string): Statement[] {
  const at = `chat.${platform}`;
  if (settings.text(`${at}.token_env`) === undefined) return [];
  const users = settings.list(`${at}.users`);
  const isOpen = users.includes("*");
  const who = isOpen
    ? "everybody"
    : users.length > 0
      ? `${users.length} named users`
      : "those its roles name";
  return [
    {
      text: `On ${platform === "slack" ? "Slack" : "Discord"}: ${who}.`,
      weight: isOpen ? "open" : "plain",
    },
  ];
}

function byWork(settings: Settings): Statement[] {
  const repo = settings.text("work_source.repo");
  if (repo === undefined) return [];
  const labels = settings.list("work_source.labels").map((label) => `\`${label}\``);
  return [
    { text: `Whoever may label issues of ${repo} with ${labels.join(", ")}.`, weight: "open" },
  ];
}
