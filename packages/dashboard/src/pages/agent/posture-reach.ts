import type { ConfigValueReader } from "./config-value-reader.ts";
import type { PostureStatement } from "./posture-statement.ts";

export function describeReach(settings: ConfigValueReader): PostureStatement[] {
  const network = settings.isOn("docker.enabled") ? containerStatements(settings) : hostStatements;
  return [...network, ...credentialStatements(settings), ...mcpServerStatements(settings)];
}

const hostStatements: PostureStatement[] = [
  {
    text: "Every address this machine can reach, including the local network.",
    weight: "open",
  },
];

function containerStatements(settings: ConfigValueReader): PostureStatement[] {
  const network = settings.text("docker.network");
  if (network === "host")
    return [
      {
        text: "Every address this machine can reach, including localhost.",
        weight: "open",
      },
    ];
  if (network === "bridge")
    return [
      { text: "The internet and the local network, through Docker's bridge.", weight: "open" },
    ];
  const hosts = settings.list("docker.egress");
  if (hosts.length === 0)
    return [
      { text: "No network access except to the model, through the gateway.", weight: "tight" },
    ];
  return [{ text: `Only hosts that the gateway allows: ${hosts.join(", ")}.`, weight: "tight" }];
}

function credentialStatements(settings: ConfigValueReader): PostureStatement[] {
  const credentialSetting = settings.text("credential") ?? "auto";
  const auth = settings.text("docker.auth");
  if (settings.isOn("docker.enabled") && (auth === undefined || auth === "gateway"))
    return [
      {
        text: `The credential (\`${credentialSetting}\`) stays outside the container: the gateway adds it to requests.`,
        weight: "tight",
      },
    ];
  if (settings.isOn("docker.enabled"))
    return [
      {
        text: `The credential (\`${credentialSetting}\`) is inside the container (\`auth: ${auth}\`).`,
        weight: "open",
      },
    ];
  return [
    {
      text: `Credential: \`${credentialSetting}\`. The gateway keeps API keys out of the agent's environment, but any program of the same user could still read them.`,
      weight: "plain",
    },
  ];
}

function mcpServerStatements(settings: ConfigValueReader): PostureStatement[] {
  const names = settings.names("mcp_servers");
  return names.map((name) => {
    const url = settings.text(`mcp_servers.${name}.url`);
    const command = settings.text(`mcp_servers.${name}.command`);
    const where = settings.text(`mcp_servers.${name}.run`);
    const address = url ?? `\`${command}\``;
    const isOutside = settings.isOn("docker.enabled") && where !== "container";
    return {
      text: `MCP server \`${name}\` (${address})${isOutside ? ", which runs outside the container" : ""}.`,
      weight: isOutside ? "open" : "plain",
    };
  });
}
