import { ChatError, type ChatLinkOptions } from "@herdctl/core";

type Settings = NonNullable<ChatLinkOptions["settings"]["slack"]>;

export interface SlackSettings extends Settings {
  token: string;
  appToken: string;
}

/** The agent's words on Slack, with the tokens that they name. */
export function settingsOf({ settings, environment }: ChatLinkOptions): SlackSettings {
  const { slack } = settings;
  if (!slack) throw new Error("the agent is not in Slack");
  const [token, appToken] = [slack.token_env, slack.app_token_env].map((name) => {
    const value = environment[name]?.trim();
    if (value) return value;
    throw new ChatError(
      `${name} is not set.`,
      "Put the token into the environment of the fleet, or into `.env` beside the fleet file.",
      false,
    );
  });
  return { ...slack, token: token ?? "", appToken: appToken ?? "" };
}
