import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  exitCodes,
  findFleetFile,
  knownNodeId,
  loadFleet,
  type ResumeCommand,
  resumeCommand,
  UserError,
  viewSession,
} from "@herdctl/core";
import { type Call, textOption } from "../command.ts";
import { findSession } from "../find-session.ts";
import { readState } from "../read-state.ts";
import { shellLine } from "../show/shell-line.ts";

export async function run(call: Call): Promise<number> {
  const { options, cwd, env, terminal } = call;
  const [id] = call.arguments;
  if (id === undefined) throw new UserError("usage", "which session or job?");
  const { session, credential, here } = await readState(call, async (state) => ({
    ...(await findSession(state, id)),
    here: state.shared && knownNodeId(state.stateDir),
  }));
  const { obstacle } = viewSession(session, env, new Date(), here);
  if (obstacle) throw new UserError("session_unavailable", obstacle.message, obstacle);
  const loaded = loadFleet(findFleetFile({ config: textOption(options, "config"), cwd }), env);
  const command = resumeCommand(loaded, session, credential);
  if (terminal.json) {
    const { program, args, cwd: folder } = command;
    terminal.printJson({ program, args, cwd: folder, config_dir: session.config_dir });
  } else if (options.print === true) {
    terminal.print(shellLine(command));
  } else {
    return open(command, env);
  }
  return exitCodes.success;
}

async function open(command: ResumeCommand, env: NodeJS.ProcessEnv): Promise<number> {
  // Ctrl-C is Claude Code's to understand: it would end us and leave it without its terminal.
  const ignore = () => undefined;
  process.on("SIGINT", ignore);
  try {
    const child = spawn(command.program, command.args, {
      cwd: command.cwd,
      env: { ...env, ...command.env },
      stdio: "inherit",
    });
    const [code] = await once(child, "close");
    return code === 0 ? exitCodes.success : exitCodes.jobFailed;
  } finally {
    process.off("SIGINT", ignore);
  }
}
