import { ChatError, type ConnectorOptions } from "@herdctl/core";

type Settings = NonNullable<ConnectorOptions["settings"]["slack"]>;

export interface SlackSettings extends Settings {
  token: string;
  appToken: string;
}

/** The agent's Slack settings, with its tokens. */
export function readSettings({ settings, environment }: ConnectorOptions): SlackSettings {
  const { slack } = settings;
  if (!slack) throw new Error("the agent has no `chat.slack` settings");
  const [token, appToken] = [slack.token_env, slack.app_token_env].map((name) => {
    const value = environment[name]?.trim();
    if (value) return value;
    throw new ChatError(
      `${name} is not set.`,
      "Set it to the token, in the fleet's environment or in `.env` next to the fleet file.",
      false,
    );
  });
  return { ...slack, token: token ?? "", appToken: appToken ?? "" };
}
