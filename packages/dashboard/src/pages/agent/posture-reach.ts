import type { Settings } from "./settings.ts";
import type { Statement } from "./statement.ts";

export function reachOf(settings: Settings): Statement[] {
  const network = settings.isOn("docker.enabled") ? ofContainer(settings) : ofHost;
  return [...network, ...credential(settings), ...servers(settings)];
}

const ofHost: Statement[] = [
  {
    text: "Every address that this machine reaches, the local network among them.",
    weight: "open",
  },
];

function ofContainer(settings: Settings): Statement[] {
  const network = settings.text("docker.network");
  if (network === "host")
    return [
      {
        text: "Every address that this machine reaches, its own loopback among them.",
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
      { text: "No network at all; the model is reached through the gateway.", weight: "tight" },
    ];
  return [{ text: `No network but what the gateway opens: ${hosts.join(", ")}.`, weight: "tight" }];
}

function credential(settings: Settings): Statement[] {
  const wanted = settings.text("credential") ?? "auto";
  const auth = settings.text("docker.auth");
  if (settings.isOn("docker.enabled") && (auth === undefined || auth === "gateway"))
    return [
      {
        text: `The credential (\`${wanted}\`) stays outside: the gateway puts it in.`,
        weight: "tight",
      },
    ];
  if (settings.isOn("docker.enabled"))
    return [
      {
        text: `The credential (\`${wanted}\`) is inside the container (\`auth: ${auth}\`).`,
        weight: "open",
      },
    ];
  return [
    {
      text: `Credential: \`${wanted}\`. An API key goes through the gateway and is not in the agent's environment; a program of the same user could still read it.`,
      weight: "plain",
    },
  ];
}

function servers(settings: Settings): Statement[] {
  const names = settings.names("mcp_servers");
  return names.map((name) => {
    const url = settings.text(`mcp_servers.${name}.url`);
    const command = settings.text(`mcp_servers.${name}.command`);
    const where = settings.text(`mcp_servers.${name}.run`);
    const what = url ? `at ${url}` : `which is \`${command}\``;
    const isOutside = settings.isOn("docker.enabled") && where !== "container";
    return {
      text: `The MCP server \`${name}\`, ${what}${isOutside ? ", which runs outside the container" : ""}.`,
      weight: isOutside ? "open" : "plain",
    };
  });
}
