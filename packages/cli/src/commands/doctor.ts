import { type Check, type ExamineOptions, examine, type RunningFleet } from "@herdctl/core";
import { broughtToDoctor } from "../brought-to-doctor.ts";
import type { Call } from "../command.ts";
import { findFleet } from "../fleet-access.ts";
import { findAgent } from "../named-agent.ts";
import { checkLines } from "../show/check-lines.ts";
import { doctorVerdict, groupTitles } from "../show/doctor-words.ts";
import { lookOf } from "../show/look.ts";
import { liveScreen, plainScreen } from "../show/screen.ts";
import { frameTime, spinnerLine } from "../show/spinner.ts";
import { listenForStop } from "../stop-signals.ts";

export async function run(call: Call): Promise<number> {
  const { terminal, options } = call;
  const stop = listenForStop(() => undefined);
  const checks: Check[] = [];
  const view = openView(call);
  try {
    const given = await optionsOf(call, view.step, stop.signal);
    for await (const check of examine(given)) {
      view.show(check, checks.at(-1));
      checks.push(check);
    }
  } finally {
    view.close();
    stop.dispose();
  }
  const bad = options.strict === true ? ["failed", "warning"] : ["failed"];
  const isWell = checks.every(({ verdict }) => !bad.includes(verdict));
  if (terminal.json) terminal.printJson({ ok: isWell, checks });
  else terminal.print(`\n${doctorVerdict(checks, terminal)}`);
  return isWell ? 0 : 1;
}

async function optionsOf(
  call: Call,
  onStep: (what: string) => void,
  signal: AbortSignal,
): Promise<ExamineOptions> {
  const { arguments: given, options, cwd, env } = call;
  const setUp = broughtToDoctor(call);
  const [agent] = given;
  const isReadable = setUp.kind === "loaded" || setUp.kind === "wrong";
  if (agent !== undefined && setUp.kind === "loaded") findAgent(agent, setUp.loaded.fleet);
  return {
    ...{ setUp, cwd, env, agent, onStep, signal },
    running: isReadable ? await runningFleet(call) : undefined,
    offline: options.offline === true,
    fix: options.fix === true,
  };
}

async function runningFleet(call: Call): Promise<RunningFleet | undefined> {
  const client = await findFleet(call);
  try {
    const status = await client?.status();
    return status && { pid: status.fleet.pid, url: status.fleet.url };
  } catch {
    return undefined;
  } finally {
    client?.close();
  }
}

/** Each group under its title; below, while it takes its time, what is being done. */
function openView({ terminal }: Call) {
  const look = lookOf(terminal);
  const inner = { ...look, width: look.width && look.width - 2 };
  const screen = terminal.live ? liveScreen(terminal.write) : plainScreen(terminal.print);
  const began = Date.now();
  let doing = "looking around";
  const below = () => (terminal.live ? [spinnerLine(Date.now() - began, doing, look)] : []);
  const timer = terminal.live ? setInterval(() => screen.show([], below()), frameTime) : undefined;
  return {
    step: (what: string) => {
      doing = what;
    },
    show: (check: Check, last: Check | undefined) => {
      if (terminal.json) return;
      const isNew = check.group !== last?.group;
      const gap = last === undefined ? [] : [""];
      const title = isNew ? [...gap, terminal.colors.bold(groupTitles[check.group])] : [];
      screen.show([...title, ...checkLines(check, inner).map((line) => `  ${line}`)], below());
    },
    close: () => {
      clearInterval(timer);
      screen.close();
    },
  };
}
