import type { ChatCheck, ChatLinkOptions } from "@herdctl/core";
import { WebClient } from "@slack/web-api";
import { neededScopes } from "./scopes.ts";
import { type SlackSettings, settingsOf } from "./settings.ts";
import { silentLogger } from "./silent-logger.ts";
import { slackError } from "./slack-error.ts";

/** Looks at all that can be known of an app without saying anything as it. */
export async function examineSlack(link: ChatLinkOptions): Promise<ChatCheck[]> {
  const checks: ChatCheck[] = [];
  const failed = (name: string, error: unknown) => {
    const { message, hint } = slackError(error);
    checks.push({ name, verdict: "failed", message, hint });
  };
  let settings: SlackSettings;
  try {
    settings = settingsOf(link);
  } catch (error) {
    failed("token", error);
    return checks;
  }
  const client = (token: string) =>
    new WebClient(token, {
      slackApiUrl: settings.base_url,
      logger: silentLogger,
      retryConfig: { retries: 1 },
    });
  const web = client(settings.token);
  try {
    const answer = await web.auth.test();
    checks.push({
      name: "token",
      verdict: "ok",
      message: `It is ${answer.user} in ${answer.team}.`,
    });
    checks.push(scopeCheck(answer.response_metadata?.scopes ?? []));
    checks.push(workspaceCheck(settings, answer.team_id ?? ""));
  } catch (error) {
    failed("token", error);
    return checks;
  }
  try {
    await client(settings.appToken).apps.connections.open({});
    checks.push({ name: "app token", verdict: "ok", message: "Events can be received." });
  } catch (error) {
    failed("app token", error);
  }
  for (const channel of Object.keys(settings.channels)) {
    try {
      const { channel: found } = await web.conversations.info({ channel });
      checks.push({
        name: `channel ${channel}`,
        verdict: "ok",
        message: `It sees ${found?.name}.`,
      });
    } catch (error) {
      failed(`channel ${channel}`, error);
    }
  }
  return checks;
}

function scopeCheck(scopes: string[]): ChatCheck {
  const missing = neededScopes.filter((scope) => !scopes.includes(scope));
  if (missing.length === 0)
    return { name: "scopes", verdict: "ok", message: "It has what it needs." };
  return {
    name: "scopes",
    verdict: "failed",
    message: `The app lacks ${missing.join(", ")}.`,
    hint: "Add them on the app's page, under OAuth & Permissions, and install the app anew.",
  };
}

function workspaceCheck({ workspaces }: SlackSettings, team: string): ChatCheck {
  const isListed = workspaces.length === 0 || workspaces.includes(team);
  if (isListed) return { name: "workspace", verdict: "ok", message: `It listens in ${team}.` };
  const hint = "Put it into `workspaces`, or install the app elsewhere.";
  return { name: "workspace", verdict: "failed", message: `${team} is not listed.`, hint };
}
