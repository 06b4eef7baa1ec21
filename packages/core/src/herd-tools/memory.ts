import { z } from "zod";
import { Memory, memoryDir } from "../state/memory.ts";
import type { HerdDoors } from "./herd-doors.ts";
import { type HerdAnswer, type HerdTool, herdTool, refusal } from "./herd-tool.ts";
import { searchNotes } from "./search-notes.ts";

/** One flat object: what models are offered must not be a choice of several at its top. */
const input = z.strictObject({
  action: z.enum(["list", "read", "write", "search", "delete"]),
  name: z.string().optional().describe("Which note, such as `release-steps`"),
  text: z.string().optional().describe("For `write`: the whole note, in Markdown"),
  words: z.string().optional().describe("For `search`: notes that hold all of them"),
});
type Input = z.output<typeof input>;

/** Small notes that outlive the session, in the agent's own folder of the state. */
export function memoryTool({ order, stateDir }: HerdDoors): HerdTool {
  const memory = new Memory(memoryDir(stateDir, order.agent.name));
  return herdTool({
    name: "memory",
    title: "Remember",
    description:
      "Notes of yours that outlast this session, for your later runs: what you learned, what is open. Look through them when a task may be known to you. `write` replaces a note as a whole. People can read and change them; do not write secrets there.",
    input,
    call: (given) => actions[given.action](memory, given),
  });
}

const actions: Record<Input["action"], (memory: Memory, given: Input) => Promise<HerdAnswer>> = {
  async list(memory) {
    const notes = await memory.list();
    const lines = notes.map(({ name, bytes, changed_at }) => `${name} (${bytes} B, ${changed_at})`);
    return { text: lines.join("\n") || "There are no notes yet." };
  },
  async read(memory, { name = "" }) {
    const text = await memory.read(name);
    return text === undefined ? noSuch(name) : { text };
  },
  async write(memory, { name = "", text = "" }) {
    if (text.trim() === "") return refusal("Give the `text` of the note.");
    const noted = await memory.write(name, text);
    return noted.kind === "noted"
      ? { text: `Noted as \`${name}\`.` }
      : refusal(`Not noted: ${noted.reason}.`);
  },
  async search(memory, { words = "" }) {
    if (words.trim() === "") return refusal("Give the `words` to search for.");
    const found = await searchNotes(memory, words);
    return { text: found.join("\n") || "No note holds these words." };
  },
  async delete(memory, { name = "" }) {
    return (await memory.delete(name)) ? { text: `Deleted \`${name}\`.` } : noSuch(name);
  },
};

function noSuch(name: string): HerdAnswer {
  return refusal(`There is no note \`${name}\`; \`list\` shows them all.`);
}
