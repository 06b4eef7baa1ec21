import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { listUsedVariables, loadFleet } from "@herdctl/config";
import { exitCodes, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { findFleet, resolveFleetFile } from "../find-fleet.ts";
import { formatNodeFlags, loadSavedNodeOptions, parseNodeOptions } from "../node-options.ts";
import type { ServiceManager } from "../service/contract.ts";
import { listEntryNames, retainedEntries } from "../service/environment-file.ts";
import { createServiceSpec, locateFleetService } from "../service/fleet-service.ts";
import { selectServiceManager } from "../service/select-service-manager.ts";
import { selectServiceVariables } from "../service/service-variables.ts";
import { type ServiceFile, writeService } from "../service/write-service.ts";
import { waitForService } from "../wait-for-service.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, options, env } = context;
  const manager = selectServiceManager(textOption(options, "platform"));
  const loaded = loadFleet(resolveFleetFile(context), env);
  const fleet = { name: loaded.fleet.fleet.name, file: loaded.fleet.file };
  const service = locateFleetService(manager, fleet, env);
  const savedOptions = loadSavedNodeOptions(loaded.fleet.stateDir);
  const nodeOptions = parseNodeOptions({ options: { ...savedOptions, ...options } }, loaded.fleet);
  const spec = {
    ...createServiceSpec(service, fleet, env),
    nodeFlags: formatNodeFlags(nodeOptions),
  };
  const variables = selectServiceVariables(env, listUsedVariables(loaded));
  const environment =
    manager.renderEnvironment(variables) +
    retainedEntries(readIfExists(spec.environmentFile), variables);
  const files = [
    { path: spec.environmentFile, text: environment, mode: 0o600 },
    { path: service.file, text: manager.renderDefinition(spec), mode: 0o644 },
  ];
  const summary = {
    name: service.name,
    file: service.file,
    variables: listEntryNames(environment),
  };
  if (options.print === true) {
    if (terminal.isJson) terminal.printJson({ ...summary, text: files[1]?.text });
    else printFiles(context, files, summary.variables);
    return exitCodes.success;
  }
  await manager.assertAvailable(env);
  await assertNotRunningManually(context, manager, service.name);
  const before = await manager.readState(service.name, env);
  mkdirSync(spec.logDir, { recursive: true, mode: 0o700 });
  const isChanged = writeService(files);
  if (isChanged || !before.running || !before.enabled) {
    await manager.enable(service.name, service.file, env);
  }
  const logs = manager.logsCommand(spec);
  const { pid } = await waitForService(context, () => manager.readState(service.name, env), logs);
  const advice = await manager.listAdvice(env);
  if (terminal.isJson) terminal.printJson({ ...summary, pid, changed: isChanged, advice, logs });
  else
    printInstallReport(context, {
      ...summary,
      pid,
      isChanged,
      advice,
      logs,
      environmentFile: spec.environmentFile,
    });
  return exitCodes.success;
}

function readIfExists(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** A fleet that was started by hand holds the lock that the service needs. */
async function assertNotRunningManually(
  context: CommandContext,
  manager: ServiceManager,
  name: string,
): Promise<void> {
  const running = await findFleet(context);
  if (!running) return;
  try {
    const { fleet } = await running.status();
    const { pid } = await manager.readState(name, context.env);
    if (fleet.pid === pid) return;
    const message = `the fleet is already running outside the service: process ${fleet.pid}`;
    throw new UserError("fleet_running", message, {
      hint: "Stop it with `herdctl stop`, then install the service.",
    });
  } finally {
    running.close();
  }
}

/** Values may be secrets, so only their names are shown. */
function printFiles(
  { terminal }: CommandContext,
  files: readonly ServiceFile[],
  names: readonly string[],
) {
  const { bold } = terminal.colors;
  const [environment, description] = files;
  terminal.print(bold(`# ${description?.path}`));
  terminal.print(description?.text.trimEnd() ?? "");
  terminal.print(`\n${bold(`# ${environment?.path}`)} (mode 600)`);
  for (const name of names) terminal.print(`${name}=…`);
}

interface InstallReport {
  name: string;
  variables: readonly string[];
  environmentFile: string;
  pid: number | null;
  isChanged: boolean;
  advice: readonly string[];
  logs: string;
}

function printInstallReport(
  { terminal }: CommandContext,
  { name, variables, ...more }: InstallReport,
): void {
  const { green, bold, dim, yellow } = terminal.colors;
  const state = more.isChanged
    ? "is installed and running"
    : "was already installed and is running";
  terminal.print(`${green("●")} ${bold(name)} ${state}  ${dim(`pid ${more.pid}`)}`);
  terminal.print(dim(`  variables ${variables.join(", ") || "none"}`));
  terminal.print(dim(`            saved in ${more.environmentFile}, readable only by you`));
  terminal.print(dim(`  logs      ${more.logs}`));
  terminal.print(dim("  status    herdctl service status · herdctl status"));
  for (const line of more.advice) terminal.print(`${yellow("!")} ${line}`);
}
