import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { exitCodes, loadFleet, UserError, usedVariables } from "@herdctl/core";
import { type Call, textOption } from "../command.ts";
import { findFleet, fleetFileOf } from "../fleet-access.ts";
import { nodeFlags, nodeOptionsOf, rememberedOptions } from "../node-options.ts";
import type { ServiceManager } from "../service/contract.ts";
import { entryNames, keptEntries } from "../service/environment-file.ts";
import { factsOf, fleetService } from "../service/fleet-service.ts";
import { serviceManager } from "../service/service-manager.ts";
import { serviceVariables } from "../service/service-variables.ts";
import { type ServiceFile, writeService } from "../service/write-service.ts";
import { untilServiceAnswers } from "../until-service-answers.ts";

export async function run(call: Call): Promise<number> {
  const { terminal, options, env } = call;
  const manager = serviceManager(textOption(options, "platform"));
  const loaded = loadFleet(fleetFileOf(call), env);
  const fleet = { name: loaded.fleet.fleet.name, file: loaded.fleet.file };
  const service = fleetService(manager, fleet, env);
  const remembered = rememberedOptions(loaded.fleet.stateDir);
  const told = nodeOptionsOf({ options: { ...remembered, ...options } }, loaded.fleet);
  const facts = { ...factsOf(service, fleet, env), nodeFlags: nodeFlags(told) };
  const variables = serviceVariables(env, usedVariables(loaded));
  const environment =
    manager.environment(variables) + keptEntries(readIfThere(facts.environmentFile), variables);
  const files = [
    { path: facts.environmentFile, text: environment, mode: 0o600 },
    { path: service.file, text: manager.describe(facts), mode: 0o644 },
  ];
  const shown = { name: service.name, file: service.file, variables: entryNames(environment) };
  if (options.print === true) {
    if (terminal.json) terminal.printJson({ ...shown, text: files[1]?.text });
    else printFiles(call, files, shown.variables);
    return exitCodes.success;
  }
  await manager.check(env);
  await refuseIfByHand(call, manager, service.name);
  const before = await manager.state(service.name, env);
  mkdirSync(facts.logDir, { recursive: true, mode: 0o700 });
  const isChanged = writeService(files);
  if (isChanged || !before.running || !before.enabled) {
    await manager.enable(service.name, service.file, env);
  }
  const logs = manager.logs(facts);
  const { pid } = await untilServiceAnswers(call, () => manager.state(service.name, env), logs);
  const advice = await manager.advice(env);
  if (terminal.json) terminal.printJson({ ...shown, pid, changed: isChanged, advice, logs });
  else
    report(call, {
      ...shown,
      pid,
      isChanged,
      advice,
      logs,
      environmentFile: facts.environmentFile,
    });
  return exitCodes.success;
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** Two processes cannot hold one fleet. */
async function refuseIfByHand(call: Call, manager: ServiceManager, name: string): Promise<void> {
  const running = await findFleet(call);
  if (!running) return;
  try {
    const { fleet } = await running.status();
    const { pid } = await manager.state(name, call.env);
    if (fleet.pid === pid) return;
    throw new UserError("fleet_running", `this fleet runs already, by hand: process ${fleet.pid}`, {
      hint: "Stop it with `herdctl stop`, then install the service.",
    });
  } finally {
    running.close();
  }
}

/** Values may be secrets, so only their names are shown. */
function printFiles({ terminal }: Call, files: readonly ServiceFile[], names: readonly string[]) {
  const { bold } = terminal.colors;
  const [environment, description] = files;
  terminal.print(bold(`# ${description?.path}`));
  terminal.print(description?.text.trimEnd() ?? "");
  terminal.print(`\n${bold(`# ${environment?.path}`)} (mode 600)`);
  for (const name of names) terminal.print(`${name}=…`);
}

interface Installed {
  name: string;
  variables: readonly string[];
  environmentFile: string;
  pid: number | null;
  isChanged: boolean;
  advice: readonly string[];
  logs: string;
}

function report({ terminal }: Call, { name, variables, ...more }: Installed): void {
  const { green, bold, dim, yellow } = terminal.colors;
  const how = more.isChanged ? "is installed and runs" : "was installed already, and runs";
  terminal.print(`${green("●")} ${bold(name)} ${how}  ${dim(`pid ${more.pid}`)}`);
  terminal.print(dim(`  given     ${variables.join(", ") || "nothing"}`));
  terminal.print(dim(`            in ${more.environmentFile}, which only you may read`));
  terminal.print(dim(`  logs      ${more.logs}`));
  terminal.print(dim("  look      herdctl service status · herdctl status"));
  for (const line of more.advice) terminal.print(`${yellow("!")} ${line}`);
}
