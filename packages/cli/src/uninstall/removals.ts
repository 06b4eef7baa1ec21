import { existsSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { loadFleet } from "@herdctl/config";
import { stateDirOf, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { findFleet, resolveFleetFile } from "../find-fleet.ts";
import { loadOwnService } from "../service/load-own-service.ts";
import { removeService } from "../service/remove-service.ts";
import { selectServiceManager } from "../service/select-service-manager.ts";
import { drainTimeoutMs, stopAndWait } from "../stop-and-wait.ts";
import { findCompletionFiles, removeCompletionLines } from "./completion-lines.ts";

/** One thing that `uninstall` removes. */
export interface Removal {
  kind: "fleet" | "service" | "containers" | "completion" | "images" | "state";
  description: string;
  apply(): Promise<void> | void;
}

/** Everything that herdctl has installed for this fleet, in the order of its removal. */
export async function listRemovals(context: CommandContext): Promise<Removal[]> {
  const { options, env } = context;
  const stateDir = stateDirOf(resolveFleetFile(context));
  return [
    ...ownService(context),
    ...(await runningFleet(context)),
    ...(await dockerParts(stateDir, context)),
    ...findCompletionFiles(env).map((found) => ({
      kind: "completion" as const,
      description: `${found.file}, line ${found.lines.join(", ")}`,
      apply: () => removeCompletionLines(found),
    })),
    ...(options.state === true ? state(stateDir) : []),
  ];
}

/** Before the fleet, which its service would start again. */
function ownService(context: CommandContext): Removal[] {
  const { env, options } = context;
  const manager = selectServiceManager(textOption(options, "platform"));
  const { service, facts } = loadOwnService(context, manager);
  if (!service.isInstalled) return [];
  return [
    {
      kind: "service",
      description: `${service.name}, ${service.file}`,
      apply: () => removeService(manager, service, facts, env),
    },
  ];
}

async function runningFleet(context: CommandContext): Promise<Removal[]> {
  const running = await findFleet(context);
  if (running === undefined) return [];
  const { fleet } = await running.status();
  running.close();
  const stop = async () => {
    const client = await findFleet(context);
    if (client === undefined) return;
    await stopAndWait(context, client, { drainMs: drainTimeoutMs }).finally(() => client.close());
    await waitForExit(fleet.pid);
  };
  return [{ kind: "fleet", description: `process ${fleet.pid}`, apply: stop }];
}

/** The process still writes its log after it has released the state. */
async function waitForExit(pid: number): Promise<void> {
  const deadline = Date.now() + exitTimeoutMs;
  while (isRunning(pid) && Date.now() < deadline) await pause(20);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const exitTimeoutMs = 10_000;

async function dockerParts(stateDir: string, context: CommandContext): Promise<Removal[]> {
  const { findDockerParts, removeDockerParts } = await import("@herdctl/core/internal");
  const environment = environmentOf(context);
  const { containers, images } = await findDockerParts(stateDir, environment);
  const names = (parts: readonly { name: string }[]) => parts.map(({ name }) => name).join(", ");
  return [
    {
      kind: "containers" as const,
      parts: { containers, images: [] },
      description: names(containers),
    },
    {
      kind: "images" as const,
      parts: { containers: [], images: context.options.images === true ? images : [] },
      description: names(images),
    },
  ]
    .filter(({ parts }) => parts.containers.length + parts.images.length > 0)
    .map(({ kind, parts, description }) => ({
      ...{ kind, description },
      apply: () => removeDockerParts(parts, environment),
    }));
}

function environmentOf(context: CommandContext) {
  try {
    return loadFleet(resolveFleetFile(context), context.env).environment;
  } catch (error) {
    if (error instanceof UserError) return context.env;
    throw error;
  }
}

function state(stateDir: string): Removal[] {
  if (!existsSync(stateDir)) return [];
  const remove = async () => {
    await assertNothingRuns(stateDir);
    rmSync(stateDir, { recursive: true, force: true });
  };
  return [{ kind: "state", description: stateDir, apply: remove }];
}

/** Runners outlive a fleet process that was killed, and write to the state. */
async function assertNothingRuns(stateDir: string): Promise<void> {
  const { StateManager } = await import("@herdctl/core/internal");
  const opened = await new StateManager(stateDir).open({ readOnly: true }).catch((error) => {
    // A state that cannot be read can still be removed.
    if (error instanceof UserError) return undefined;
    throw error;
  });
  if (opened === undefined) return;
  try {
    const { jobs } = await opened.jobs.list({ status: "running", limit: 1 });
    const [job] = jobs;
    if (job === undefined) return;
    throw new UserError("fleet_running", `${job.id} is still running without a fleet`, {
      hint: "Run `herdctl start --detach` and `herdctl stop`, which end it, then try again.",
    });
  } finally {
    await opened.close();
  }
}
