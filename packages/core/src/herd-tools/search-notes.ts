import type { Memory } from "../state/memory.ts";

const mostNotes = 20;
const mostLines = 3;

/** The notes that hold every one of the words, in name or text, each with lines that show why. */
export async function searchNotes(memory: Memory, words: string): Promise<string[]> {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const found: string[] = [];
  for (const { name } of await memory.list()) {
    const text = (await memory.read(name)) ?? "";
    const whole = `${name}\n${text}`.toLowerCase();
    if (!wanted.every((word) => whole.includes(word))) continue;
    const telling = text
      .split("\n")
      .filter((line) => wanted.some((word) => line.toLowerCase().includes(word)));
    const shown = telling.slice(0, mostLines).map((line) => `  ${line.trim().slice(0, 200)}`);
    found.push([name, ...shown].join("\n"));
    if (found.length === mostNotes) break;
  }
  return found;
}
