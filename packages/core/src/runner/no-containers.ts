import type { ResolvedAgent } from "../config/resolve.ts";

/**
 * Why this agent cannot be run. On the host it would run without the boundary that its operator
 * asked for, and nobody would notice.
 */
export function lacksContainer(
  agent: Pick<ResolvedAgent, "name" | "docker">,
): { message: string; hint: string } | undefined {
  if (!agent.docker.enabled) return undefined;
  return {
    message: `\`${agent.name}\` is to run in a container, and this version has none yet. Nothing was run.`,
    hint: "Set `docker.enabled: false` to run it on the host knowingly, or wait for the release with containers.",
  };
}
