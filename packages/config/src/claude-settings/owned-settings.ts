import { reservedVariables } from "../reserved-variables.ts";

/** A setting that herdctl controls, why, and what to write instead. */
interface OwnedSetting {
  path: readonly string[];
  reason: string;
  hint: string;
}

const credential = "herdctl keeps the credential outside the agent's process";
const credentialHint = "Remove it, and use `credential` or the environment of herdctl.";
const repositoryServers = "a repository could start programs on this machine";
const serversHint = "Remove it, and list the servers in `mcp_servers`.";

/** These would open what herdctl closes, or contradict a key of the agent. */
export const ownedSettings: readonly OwnedSetting[] = [
  ...["apiKeyHelper", "awsCredentialExport", "awsAuthRefresh", "gcpAuthRefresh"].map((key) => ({
    path: [key],
    reason: credential,
    hint: credentialHint,
  })),
  ...["forceLoginMethod", "forceLoginOrgUUID", "forceLoginGatewayUrl"].map((key) => ({
    path: [key],
    reason: credential,
    hint: credentialHint,
  })),
  {
    path: ["proxyAuthHelper"],
    reason: "the run reaches the API through herdctl's gateway",
    hint: "Remove it, and set the proxy in the environment of herdctl.",
  },
  { path: ["enableAllProjectMcpServers"], reason: repositoryServers, hint: serversHint },
  { path: ["enabledMcpjsonServers"], reason: repositoryServers, hint: serversHint },
  {
    path: ["remoteControlAtStartup"],
    reason: "a remote client could answer permission requests in place of your approvers",
    hint: "Remove it, and use the dashboard or the API of herdctl.",
  },
  {
    path: ["cleanupPeriodDays"],
    reason: "herdctl keeps transcripts so that sessions can be resumed",
    hint: "Remove it. `fleet.retention` says how long jobs and sessions are kept.",
  },
  {
    path: ["permissions", "defaultMode"],
    reason: "herdctl passes the mode itself",
    hint: "Remove it, and use `permission_mode`.",
  },
  {
    path: ["sandbox"],
    reason: "herdctl makes the sandbox fail closed",
    hint: "Remove it, and use `sandbox` of the agent.",
  },
  // defence: reserved-variables-in-settings
  ...reservedVariables.map((name) => ({
    path: ["env", name],
    reason: "herdctl sets this variable itself",
    hint: "Remove it here. Set it in the environment of herdctl, or in `.env` next to the fleet file.",
  })),
];
