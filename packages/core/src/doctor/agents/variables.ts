import type { Environment } from "../../config/environment.ts";
import type { ResolvedAgent } from "../../config/resolve.ts";
import { type Finding, failed } from "../check.ts";

/** Variables that an agent's configuration names and nobody has set. */
export function judgeVariables(agent: ResolvedAgent, env: Environment): Finding[] {
  const missing = namedVariables(agent).filter(({ variable }) => !env[variable]?.trim());
  return missing.map(({ variable, purpose }) => ({
    ...failed(
      "variables",
      `${variable} is not set, which holds ${purpose}.`,
      "Set it in the environment of the fleet, or in `.env` beside the fleet file.",
    ),
    agent: agent.name,
    place: agent.file,
  }));
}

function namedVariables({ chat, work_source, schedules }: ResolvedAgent) {
  const named = (variable: string | undefined, purpose: string) =>
    variable === undefined ? [] : [{ variable, purpose }];
  return [
    ...named(chat?.discord?.token_env, "the token of its Discord bot"),
    ...named(chat?.slack?.token_env, "the token of its Slack app"),
    ...named(chat?.slack?.app_token_env, "the app-level token of its Slack app"),
    ...named(work_source?.token_env, `the token for issues of ${work_source?.repo}`),
    ...Object.entries(schedules).flatMap(([name, schedule]) =>
      schedule.type === "webhook"
        ? [schedule.signature.secret_env]
            .flat()
            .flatMap((variable) => named(variable, `the secret of the webhook \`${name}\``))
        : [],
    ),
  ];
}
