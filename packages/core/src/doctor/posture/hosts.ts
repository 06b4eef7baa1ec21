import type { ResolvedAgent } from "../../config/resolve.ts";

/** Whom an agent in a container reaches beside the model. */
export function hostsOf({ docker }: Pick<ResolvedAgent, "docker">): string[] {
  const { network, egress, api_reach } = docker;
  if (network !== "none") return [`\`network: ${network}\``];
  const hosts = egress.map((one) => {
    if (typeof one === "string") return one;
    return one.protocol === "tcp" ? `${one.host} (any protocol)` : one.host;
  });
  return [
    ...(hosts.length > 0 ? [`\`egress\` to ${hosts.join(", ")}`] : []),
    ...(api_reach.length > 0 ? [`\`api_reach\` with ${api_reach.join(", ")}`] : []),
  ];
}
