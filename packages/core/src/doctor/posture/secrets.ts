import type { ResolvedAgent } from "../../config/resolve.ts";
import { isSecretName } from "../secret-name.ts";
import { mayReadAll, mayUseServer } from "./may-use.ts";

/** What an agent can read, or act with, that is not for everybody. */
export function secretsInReach(agent: ResolvedAgent): string[] {
  const { env, docker, mcp_servers } = agent;
  const own = docker.enabled ? { ...env, ...docker.env } : env;
  return [
    ...Object.keys(own).filter(isSecretName),
    ...(docker.enabled ? inContainer(docker) : onHost(agent)),
    ...Object.entries(mcp_servers).flatMap(([server, config]) => {
      const names = Object.keys("command" in config ? config.env : config.headers);
      const held = names.filter((name) => isSecretName(name) || /^authorization$/i.test(name));
      return mayUseServer(agent, server) ? held.map((name) => `${name} of \`${server}\``) : [];
    }),
  ];
}

function inContainer({ auth, volumes }: ResolvedAgent["docker"]): string[] {
  return [
    ...(auth === "env" || auth === "mount" ? [`its credential, by \`auth: ${auth}\``] : []),
    ...volumes.map(({ source }) => `the folder ${source}`),
  ];
}

function onHost(agent: ResolvedAgent): string[] {
  return mayReadAll(agent) ? ["every file of this user, such as SSH keys and logins"] : [];
}
