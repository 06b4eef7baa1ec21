import { createInterface } from "node:readline";
import { UserError } from "@herdctl/protocol";
import { z } from "zod";
import { httpStatusOf } from "../docker/engine.ts";

const keptLineCount = 12;
const builderNoise = /^(?: ---> |Removing intermediate container )/;

/** Collects the result of a build: the image, or the error with the last lines of output. */
export class BuildLog {
  private currentStep: string | undefined;
  private recentLines: string[] = [];
  private id: string | undefined;
  private error: string | undefined;

  constructor(private readonly baseImage: string | undefined) {}

  record(event: BuildEvent): void {
    if (event.kind === "step") {
      this.currentStep = event.text;
      this.recentLines = [];
    }
    if (event.kind === "line" && !builderNoise.test(event.text)) {
      this.recentLines = [...this.recentLines, event.text].slice(-keptLineCount);
    }
    if (event.kind === "image") this.id = event.id;
    if (event.kind === "error") this.error = event.message;
  }

  requireImageId(): string {
    if (this.error !== undefined) throw this.stepError(this.error);
    if (this.id !== undefined) return this.id;
    throw new UserError("image_not_built", "The engine stopped before the image was complete.");
  }

  /** The engine rejected the build or stopped responding. */
  toUserError(error: unknown): UserError {
    const message = error instanceof Error ? error.message : String(error);
    const text =
      httpStatusOf(error) === undefined
        ? `The connection to the engine failed during the build: ${message}`
        : message;
    return new UserError("image_not_built", text.trim(), { cause: error });
  }

  private stepError(reason: string): UserError {
    if (this.currentStep?.startsWith("FROM")) return this.baseImageError(this.currentStep, reason);
    const where = this.currentStep === undefined ? "The build" : `The step \`${this.currentStep}\``;
    const output = this.recentLines.map((line) => `\n  ${line}`).join("");
    return new UserError("image_not_built", `${where} failed: ${reason}${output}`);
  }

  private baseImageError(currentStep: string, reason: string): UserError {
    const name = this.baseImage === undefined ? `of \`${currentStep}\`` : `\`${this.baseImage}\``;
    return new UserError(
      "image_missing",
      `The base image ${name} is not on this machine and cannot be pulled: ${reason}`,
      { hint: "Check its name, pull it with `docker pull`, or use another one with `--base`." },
    );
  }
}

export type BuildEvent =
  | { kind: "step"; number: number; total: number; text: string }
  | { kind: "line"; text: string }
  /** Progress of pulling the base image. */
  | { kind: "fetch"; text: string }
  | { kind: "image"; id: string }
  | { kind: "error"; message: string };

/** Parses the builder's response: one JSON object per line, each with one or more lines of text. */
export async function* parseBuildEvents(answer: NodeJS.ReadableStream): AsyncGenerator<BuildEvent> {
  for await (const line of createInterface({ input: answer })) {
    if (line.trim() !== "") yield* toBuildEvents(engineMessageSchema.parse(JSON.parse(line)));
  }
}

const engineMessageSchema = z.object({
  stream: z.string().optional(),
  status: z.string().optional(),
  progress: z.string().optional(),
  id: z.string().optional(),
  aux: z.object({ ID: z.string().optional() }).optional(),
  error: z.string().optional(),
});

function toBuildEvents(message: z.infer<typeof engineMessageSchema>): BuildEvent[] {
  const { stream, status, aux, error } = message;
  if (error !== undefined) return [{ kind: "error", message: error.trim() }];
  if (aux?.ID !== undefined) return [{ kind: "image", id: aux.ID }];
  if (status !== undefined) {
    const parts = [message.id, status, message.progress];
    return [{ kind: "fetch", text: parts.filter((part) => part).join(" ") }];
  }
  const lines = (stream ?? "").split("\n").map(stripControlCodes);
  return lines.filter((line) => line !== "").map(parseLine);
}

const ansiColorPattern = /\x1b\[[\d;]*m/g;

const controlCharPattern = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** Keeps only the final text of a line that was overwritten with carriage returns. */
function stripControlCodes(line: string): string {
  const last = line.replace(ansiColorPattern, "").trimEnd().split("\r").at(-1) ?? "";
  return last.replace(controlCharPattern, "");
}

function parseLine(line: string): BuildEvent {
  const [, number, total, text] = /^Step (\d+)\/(\d+) : (.*)$/.exec(line) ?? [];
  if (text === undefined) return { kind: "line", text: line };
  return { kind: "step", number: Number(number), total: Number(total), text };
}
