import { z } from "zod";
import { AgentMemory, memoryDir } from "../../store/files/agent-memory.ts";
import {
  type AgentTool,
  type AgentToolContext,
  defineAgentTool,
  refuse,
  type ToolAnswer,
} from "./agent-tool.ts";

/** One flat object: the API does not accept a union at the top of a tool's schema. */
const input = z.strictObject({
  action: z.enum(["list", "read", "write", "search", "delete"]),
  name: z.string().optional().describe("Name of the note, such as `release-steps`"),
  text: z.string().optional().describe("For `write`: the whole note, in Markdown"),
  words: z
    .string()
    .optional()
    .describe("For `search`: finds notes that contain all of these words"),
});
type Input = z.output<typeof input>;

/** Notes that outlive the session, stored per agent in the state directory. */
export function memoryTool({ order, stateDir }: AgentToolContext): AgentTool {
  const memory = new AgentMemory(memoryDir(stateDir, order.agent.name));
  return defineAgentTool({
    name: "memory",
    title: "Remember",
    description:
      "Your notes that outlive this session, for your later runs: what you learned, what is still open. Check them when a task may be familiar. `write` replaces the whole note. People can read and change your notes; do not write secrets in them.",
    input,
    call: (request) => actions[request.action](memory, request),
  });
}

const actions: Record<
  Input["action"],
  (memory: AgentMemory, request: Input) => Promise<ToolAnswer>
> = {
  async list(memory) {
    const notes = await memory.list();
    const lines = notes.map(({ name, bytes, changed_at }) => `${name} (${bytes} B, ${changed_at})`);
    return { text: lines.join("\n") || "There are no notes yet." };
  },
  async read(memory, { name = "" }) {
    const text = await memory.read(name);
    return text === undefined ? noteNotFound(name) : { text };
  },
  async write(memory, { name = "", text = "" }) {
    if (text.trim() === "") return refuse("Give the `text` of the note.");
    const noted = await memory.write(name, text);
    return noted.kind === "noted"
      ? { text: `Noted as \`${name}\`.` }
      : refuse(`Not noted: ${noted.reason}.`);
  },
  async search(memory, { words = "" }) {
    if (words.trim() === "") return refuse("Give the `words` to search for.");
    const found = await searchNotes(memory, words);
    return { text: found.join("\n") || "No note contains these words." };
  },
  async delete(memory, { name = "" }) {
    return (await memory.delete(name)) ? { text: `Deleted \`${name}\`.` } : noteNotFound(name);
  },
};

function noteNotFound(name: string): ToolAnswer {
  return refuse(`There is no note \`${name}\`. Use \`list\` to see all notes.`);
}

const maxNotes = 20;

const maxLinesPerNote = 3;

/** The notes whose name or text contains all of the words, each with some matching lines. */
async function searchNotes(memory: AgentMemory, words: string): Promise<string[]> {
  const searchWords = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found: string[] = [];
  for (const { name } of await memory.list()) {
    const text = (await memory.read(name)) ?? "";
    const searchText = `${name}\n${text}`.toLowerCase();
    if (!searchWords.every((word) => searchText.includes(word))) continue;
    const matchingLines = text
      .split("\n")
      .filter((line) => searchWords.some((word) => line.toLowerCase().includes(word)));
    const excerpt = matchingLines
      .slice(0, maxLinesPerNote)
      .map((line) => `  ${line.trim().slice(0, 200)}`);
    found.push([name, ...excerpt].join("\n"));
    if (found.length === maxNotes) break;
  }
  return found;
}
