import { createInterface } from "node:readline";
import { z } from "zod";

/** What happens while an image is built. */
export type BuildEvent =
  | { kind: "step"; number: number; of: number; text: string }
  | { kind: "line"; text: string }
  /** How far the base is, which the engine fetches when it is missing. */
  | { kind: "fetch"; text: string }
  | { kind: "image"; id: string }
  | { kind: "error"; message: string };

/** The builder's answer: one JSON object a line, whose texts are lines of their own. */
export async function* buildEvents(answer: NodeJS.ReadableStream): AsyncGenerator<BuildEvent> {
  for await (const line of createInterface({ input: answer })) {
    if (line.trim() !== "") yield* eventsOf(messageSchema.parse(JSON.parse(line)));
  }
}

const messageSchema = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  progress: z.string().optional(),
  id: z.string().optional(),
  aux: z.object({ ID: z.string().optional() }).optional(),
  error: z.string().optional(),
});

function eventsOf(message: z.infer<typeof messageSchema>): BuildEvent[] {
  const { stream, status, aux, error } = message;
  if (error !== undefined) return [{ kind: "error", message: error.trim() }];
  if (aux?.ID !== undefined) return [{ kind: "image", id: aux.ID }];
  if (status !== undefined) {
    const parts = [message.id, status, message.progress];
    return [{ kind: "fetch", text: parts.filter((part) => part).join(" ") }];
  }
  const lines = (stream ?? "").split("\n").map(plainLine);
  return lines.filter((line) => line !== "").map(eventOfLine);
}

const colour = /\x1b\[[\d;]*m/g;
const control = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** A line that was written over several times counts as it was last. */
function plainLine(line: string): string {
  const last = line.replace(colour, "").trimEnd().split("\r").at(-1) ?? "";
  return last.replace(control, "");
}

function eventOfLine(line: string): BuildEvent {
  const [, number, of, text] = /^Step (\d+)\/(\d+) : (.*)$/.exec(line) ?? [];
  if (text === undefined) return { kind: "line", text: line };
  return { kind: "step", number: Number(number), of: Number(of), text };
}
