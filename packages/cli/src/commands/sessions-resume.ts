import { spawn } from "node:child_process";
import { once } from "node:events";
import { loadFleet } from "@herdctl/config";
import {
  buildResumeCommand,
  type ResumeCommand,
  readNodeId,
  viewSession,
} from "@herdctl/core/internal";
import { exitCodes, findFleetFile, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { findSession } from "../find-session.ts";
import { readState } from "../read-state.ts";
import { shellCommandText } from "../render/shell-quoting.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, cwd, env, terminal } = context;
  const [id] = context.arguments;
  if (id === undefined) {
    throw new UserError("usage", "the ID of the session or job is missing", {
      hint: "Run `herdctl sessions` to list sessions and their IDs.",
    });
  }
  const { session, credential, nodeId } = await readState(context, async (state) => ({
    ...(await findSession(state, id)),
    nodeId: state.shared && readNodeId(state.stateDir),
  }));
  const { obstacle } = viewSession(session, env, new Date(), nodeId);
  if (obstacle) throw new UserError("session_unavailable", obstacle.message, obstacle);
  const loaded = loadFleet(findFleetFile({ config: textOption(options, "config"), cwd }), env);
  const command = buildResumeCommand(loaded, session, credential);
  if (terminal.isJson) {
    const { program, args, cwd: folder } = command;
    terminal.printJson({ program, args, cwd: folder, config_dir: session.config_dir });
  } else if (options.print === true) {
    terminal.print(shellCommandText(command));
  } else {
    return runCommand(command, env);
  }
  return exitCodes.success;
}

async function runCommand(command: ResumeCommand, env: NodeJS.ProcessEnv): Promise<number> {
  // Ctrl-C is for Claude Code: if it ended this process, Claude Code would lose its terminal.
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
