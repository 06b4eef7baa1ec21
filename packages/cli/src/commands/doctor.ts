import {
  type Check,
  type DoctorOptions,
  type RunningFleet,
  runDoctor,
} from "@herdctl/core/internal";
import type { CommandContext } from "../command.ts";
import { findAgent } from "../find-agent.ts";
import { findFleet } from "../find-fleet.ts";
import { loadDoctorSetup } from "../load-doctor-setup.ts";
import { checkLines } from "../render/doctor-check-lines.ts";
import { checkGroupTitles, doctorSummary } from "../render/doctor-summary.ts";
import { createLiveScreen, createPlainScreen } from "../render/screen.ts";
import { frameIntervalMs, spinnerLine } from "../render/spinner.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";
import { listenForStopSignals } from "../stop-signals.ts";

export async function run(context: CommandContext): Promise<number> {
  const { terminal, options } = context;
  const stop = listenForStopSignals(() => undefined);
  const checks: Check[] = [];
  const view = createDoctorView(context);
  try {
    const doctorOptions = await createDoctorOptions(context, view.step, stop.signal);
    for await (const check of runDoctor(doctorOptions)) {
      view.show(check, checks.at(-1));
      checks.push(check);
    }
  } finally {
    view.close();
    stop.dispose();
  }
  const failingVerdicts = options.strict === true ? ["failed", "warning"] : ["failed"];
  const isOk = checks.every(({ verdict }) => !failingVerdicts.includes(verdict));
  if (terminal.isJson) terminal.printJson({ ok: isOk, checks });
  else terminal.print(`\n${doctorSummary(checks, terminal)}`);
  return isOk ? 0 : 1;
}

async function createDoctorOptions(
  context: CommandContext,
  onStep: (step: string) => void,
  signal: AbortSignal,
): Promise<DoctorOptions> {
  const { options, cwd, env } = context;
  const [agentName] = context.arguments;
  const target = loadDoctorSetup(context);
  const hasFleetFile = target.kind === "loaded" || target.kind === "wrong";
  if (agentName !== undefined && target.kind === "loaded")
    findAgent(agentName, target.loaded.fleet);
  return {
    ...{ target, cwd, env, agentName, onStep, signal },
    running: hasFleetFile ? await findRunningFleet(context) : undefined,
    offline: options.offline === true,
    fix: options.fix === true,
    acceptEmptyState: options.emptyState === true,
  };
}

async function findRunningFleet(context: CommandContext): Promise<RunningFleet | undefined> {
  const client = await findFleet(context);
  try {
    const status = await client?.status();
    return status && { pid: status.fleet.pid, url: status.fleet.url };
  } catch {
    return undefined;
  } finally {
    client?.close();
  }
}

/** Prints each group of checks under its title, and on a terminal the current step below. */
function createDoctorView({ terminal }: CommandContext) {
  const style = terminalStyleOf(terminal);
  const innerStyle = { ...style, width: style.width && style.width - 2 };
  const screen = terminal.canRedraw
    ? createLiveScreen(terminal.write)
    : createPlainScreen(terminal.print);
  const startedAtMs = Date.now();
  let currentStep = "checking";
  const footerLines = () =>
    terminal.canRedraw ? [spinnerLine(Date.now() - startedAtMs, currentStep, style)] : [];
  const timer = terminal.canRedraw
    ? setInterval(() => screen.show([], footerLines()), frameIntervalMs)
    : undefined;
  return {
    step: (step: string) => {
      currentStep = step;
    },
    show: (check: Check, last: Check | undefined) => {
      if (terminal.isJson) return;
      const isNew = check.group !== last?.group;
      const gap = last === undefined ? [] : [""];
      const title = isNew ? [...gap, terminal.colors.bold(checkGroupTitles[check.group])] : [];
      screen.show(
        [...title, ...checkLines(check, innerStyle).map((line) => `  ${line}`)],
        footerLines(),
      );
    },
    close: () => {
      clearInterval(timer);
      screen.close();
    },
  };
}
