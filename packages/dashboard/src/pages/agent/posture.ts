import type { ConfigValueView } from "@herdctl/server/contract";
import { ConfigValueReader } from "./config-value-reader.ts";
import { describePermissions } from "./posture-permissions.ts";
import { describeReach } from "./posture-reach.ts";
import type { PostureStatement } from "./posture-statement.ts";
import { describeTriggers } from "./posture-triggers.ts";

export interface Posture {
  runs: PostureStatement[];
  reaches: PostureStatement[];
  touches: PostureStatement[];
  triggers: PostureStatement[];
}

/** Describes the security of an agent in sentences, based only on its configuration. */
export function describePosture(values: readonly ConfigValueView[]): Posture {
  const settings = new ConfigValueReader(values);
  return {
    runs: describeRuntime(settings),
    reaches: describeReach(settings),
    touches: describePermissions(settings),
    triggers: describeTriggers(settings),
  };
}

function describeRuntime(settings: ConfigValueReader): PostureStatement[] {
  const runtime = settings.text("runtime.type") === "cli" ? "the `claude` CLI" : "the Agent SDK";
  if (!settings.isOn("docker.enabled")) {
    return [
      {
        text: `On this machine, as the fleet's user, with ${runtime}. Only Claude Code's permission checks limit what it can do as this user.`,
        weight: "open",
      },
    ];
  }
  const limits = [
    `${settings.text("docker.memory")} of memory`,
    `${settings.text("docker.pids_limit")} processes`,
  ];
  const isReadOnlyRoot = settings.isOn("docker.read_only");
  return [
    {
      text: `In a separate container for each attempt, with ${runtime}, without root capabilities, with at most ${limits.join(" and ")}.`,
      weight: "tight",
    },
    isReadOnlyRoot
      ? { text: "The container's file system is read-only.", weight: "tight" }
      : {
          text: "It can change the container's file system. The changes are lost with the container.",
          weight: "plain",
        },
  ];
}
