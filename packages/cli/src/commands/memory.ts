import { findFleetFile, stateDirOf, UserError } from "@herdctl/core/light";
import { type Call, textOption } from "../command.ts";
import { harmless } from "../show/harmless.ts";
import { lookOf } from "../show/look.ts";
import { noteTable } from "../show/note-table.ts";

/** The notes are files: neither a fleet nor the database is asked. */
export async function run({ arguments: given, options, cwd, terminal }: Call): Promise<number> {
  const [agent, name] = given;
  if (agent === undefined) throw new UserError("usage", "the notes of which agent?");
  const { isNoteName, Memory, memoryDir } = await import("@herdctl/core/state");
  const stateDir = stateDirOf(findFleetFile({ config: textOption(options, "config"), cwd }));
  if (/[/\\]|^\.+$/.test(agent)) throw new UserError("usage", `there is no agent \`${agent}\``);
  const memory = new Memory(memoryDir(stateDir, agent));
  if (name !== undefined) {
    const text = isNoteName(name) ? await memory.read(name) : undefined;
    if (text === undefined) throw noSuchNote(agent, name);
    if (terminal.json) terminal.printJson({ agent, name, text });
    else terminal.print(harmless(text.trimEnd()));
    return 0;
  }
  const notes = await memory.list();
  if (terminal.json) terminal.printJson({ agent, folder: memory.folder, notes });
  else if (notes.length === 0) terminal.print(`${agent} has no notes.`);
  else for (const line of noteTable(notes, new Date(), lookOf(terminal))) terminal.print(line);
  return 0;
}

function noSuchNote(agent: string, name: string): UserError {
  return new UserError("usage", `${agent} has no note \`${name}\``, {
    hint: `\`herdctl memory ${agent}\` lists them.`,
  });
}
