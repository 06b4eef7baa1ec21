import { findFleetFile, stateDirOf, UserError } from "@herdctl/protocol";
import { type CommandContext, textOption } from "../command.ts";
import { noteTableLines } from "../render/note-table.ts";
import { sanitizeText } from "../render/sanitize-text.ts";
import { terminalStyleOf } from "../render/terminal-style.ts";

/** Notes are files, so this needs neither the running fleet nor the store. */
export async function run(context: CommandContext): Promise<number> {
  const { options, cwd, terminal } = context;
  const [agent, name] = context.arguments;
  if (agent === undefined) throw new UserError("usage", "the name of the agent is missing");
  const { isNoteName, AgentMemory, memoryDir } = await import("@herdctl/core/internal");
  const stateDir = stateDirOf(findFleetFile({ config: textOption(options, "config"), cwd }));
  if (/[/\\]|^\.+$/.test(agent))
    throw new UserError("agent_not_found", `there is no agent \`${agent}\``);
  const memory = new AgentMemory(memoryDir(stateDir, agent));
  if (name !== undefined) {
    const text = isNoteName(name) ? await memory.read(name) : undefined;
    if (text === undefined) throw noteNotFoundError(agent, name);
    if (terminal.isJson) terminal.printJson({ agent, name, text });
    else terminal.print(sanitizeText(text.trimEnd()));
    return 0;
  }
  const notes = await memory.list();
  if (terminal.isJson) terminal.printJson({ agent, folder: memory.folder, notes });
  else if (notes.length === 0) terminal.print(`${agent} has no notes.`);
  else
    for (const line of noteTableLines(notes, new Date(), terminalStyleOf(terminal)))
      terminal.print(line);
  return 0;
}

function noteNotFoundError(agent: string, name: string): UserError {
  return new UserError("usage", `${agent} has no note \`${name}\``, {
    hint: `Run \`herdctl memory ${agent}\` to list its notes.`,
  });
}
