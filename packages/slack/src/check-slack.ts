import type { ChatCheck, ConnectorOptions } from "@herdctl/core";
import { WebClient } from "@slack/web-api";
import { requiredScopes } from "./scopes.ts";
import { readSettings, type SlackSettings } from "./settings.ts";
import { silentLogger } from "./silent-logger.ts";
import { toChatError } from "./slack-error.ts";

/** Checks the configuration of an app without posting anything. */
export async function checkSlack(options: ConnectorOptions): Promise<ChatCheck[]> {
  const checks: ChatCheck[] = [];
  const failed = (name: string, error: unknown) => {
    const { message, hint } = toChatError(error);
    checks.push({ name, verdict: "failed", message, hint });
  };
  let settings: SlackSettings;
  try {
    settings = readSettings(options);
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
    const auth = await web.auth.test();
    checks.push({
      name: "token",
      verdict: "ok",
      message: `Signed in as ${auth.user} in ${auth.team}.`,
    });
    checks.push(checkScopes(auth.response_metadata?.scopes ?? []));
    checks.push(checkWorkspace(settings, auth.team_id ?? ""));
  } catch (error) {
    failed("token", error);
    return checks;
  }
  try {
    await client(settings.appToken).apps.connections.open({});
    checks.push({ name: "app token", verdict: "ok", message: "The app can receive events." });
  } catch (error) {
    failed("app token", error);
  }
  for (const channelId of Object.keys(settings.channels)) {
    try {
      const { channel } = await web.conversations.info({ channel: channelId });
      checks.push({
        name: `channel ${channelId}`,
        verdict: "ok",
        message: `The app can see ${channel?.name}.`,
      });
    } catch (error) {
      failed(`channel ${channelId}`, error);
    }
  }
  return checks;
}

function checkScopes(scopes: string[]): ChatCheck {
  const missing = requiredScopes.filter((scope) => !scopes.includes(scope));
  if (missing.length === 0)
    return { name: "scopes", verdict: "ok", message: "The app has all required scopes." };
  return {
    name: "scopes",
    verdict: "failed",
    message: `The app lacks the scopes ${missing.join(", ")}.`,
    hint: "Add them on the app's page, under OAuth & Permissions, and reinstall the app.",
  };
}

function checkWorkspace({ workspaces }: SlackSettings, team: string): ChatCheck {
  const isListed = workspaces.length === 0 || workspaces.includes(team);
  if (isListed)
    return { name: "workspace", verdict: "ok", message: `The app is installed in ${team}.` };
  const hint = "Add it to `workspaces`, or install the app in a listed workspace.";
  return {
    name: "workspace",
    verdict: "failed",
    message: `${team} is not in \`workspaces\`.`,
    hint,
  };
}
