import type { ShownValue } from "@herdctl/server/contract";
import { reachOf } from "./posture-reach.ts";
import { touchOf } from "./posture-touch.ts";
import { triggersOf } from "./posture-triggers.ts";
import { Settings } from "./settings.ts";
import type { Statement } from "./statement.ts";

export interface Posture {
  runs: Statement[];
  reaches: Statement[];
  touches: Statement[];
  triggers: Statement[];
}

/** What the configuration of an agent means for its safety, in plain words. It claims no more than is configured. */
export function postureOf(values: readonly ShownValue[]): Posture {
  const settings = new Settings(values);
  return {
    runs: whereItRuns(settings),
    reaches: reachOf(settings),
    touches: touchOf(settings),
    triggers: triggersOf(settings),
  };
}

function whereItRuns(settings: Settings): Statement[] {
  const runtime = settings.text("runtime.type") === "cli" ? "the `claude` CLI" : "the Agent SDK";
  if (!settings.isOn("docker.enabled")) {
    return [
      {
        text: `On this machine, as the user of the fleet, with ${runtime}. Nothing but Claude Code's own permissions stands between it and what this user may do.`,
        weight: "open",
      },
    ];
  }
  const limits = [
    `${settings.text("docker.memory")} of memory`,
    `${settings.text("docker.pids_limit")} processes`,
  ];
  const root = settings.isOn("docker.read_only");
  return [
    {
      text: `In a container of its own for each attempt, with ${runtime}; no capability of root, at most ${limits.join(" and ")}.`,
      weight: "tight",
    },
    root
      ? { text: "The container's own files are read-only.", weight: "tight" }
      : {
          text: "It may change the container's own files, which go with the container.",
          weight: "plain",
        },
  ];
}
