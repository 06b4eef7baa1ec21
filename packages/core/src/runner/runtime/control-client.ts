import { randomUUID } from "node:crypto";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";
import { MessageQueue } from "./message-queue.ts";
import type { PermissionAnswer, PermissionRequest } from "./permission.ts";
import { LineSplitter } from "./session-file/splitter.ts";
import type { ClaudeProcess } from "./spawn.ts";

type AskPermission = (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>;

/** A message is at most this long; beyond it something other than claude is talking. */
const longestLine = 512 * 1024 * 1024;

const controlRequest = z.looseObject({
  request_id: z.string(),
  request: z.looseObject({ subtype: z.string() }),
});

const toolRequest = z.looseObject({
  subtype: z.literal("can_use_tool"),
  tool_name: z.string(),
  tool_use_id: z.string().optional(),
  input: z.record(z.string(), z.unknown()),
  description: z.string().optional(),
});

/** Our side of the protocol that the binary speaks on its standard streams. */
export class ControlClient {
  readonly messages = new MessageQueue<SDKMessage>();
  private readonly asked = new Map<string, AbortController>();

  constructor(
    private readonly process: ClaudeProcess,
    private readonly askPermission: AskPermission | undefined,
  ) {
    this.read();
  }

  say(prompt: string): void {
    const message = { role: "user", content: prompt };
    this.send({ type: "user", message, parent_tool_use_id: null, session_id: "" });
  }

  interrupt(): void {
    this.request({ subtype: "interrupt" });
  }

  close(): void {
    this.process.stdin.end();
  }

  private read(): void {
    const splitter = new LineSplitter(0, longestLine);
    const { stdout } = this.process;
    stdout.on("data", (chunk: Buffer) => {
      for (const line of splitter.push(chunk))
        if (line.kind === "complete") this.receive(line.bytes);
    });
    stdout.once("end", () => this.messages.end());
  }

  private receive(bytes: Buffer): void {
    const line = parseLine(bytes);
    if (line === undefined || passedOver.has(line.type)) return;
    if (line.type === "control_request") void this.answer(line);
    else if (line.type === "control_cancel_request") this.withdraw(line);
    // The edge: what the binary says is an SDKMessage, also when this version does not know it.
    else this.messages.push(line as SDKMessage);
  }

  private async answer(line: unknown): Promise<void> {
    const parsed = controlRequest.safeParse(line);
    if (!parsed.success) return;
    const { request_id, request } = parsed.data;
    const tool = toolRequest.safeParse(request);
    const respond = (response: object) =>
      this.send({ type: "control_response", response: { request_id, ...response } });
    if (!tool.success) {
      return respond({ subtype: "error", error: `herdctl does not answer \`${request.subtype}\`` });
    }
    respond({ subtype: "success", response: await this.permit(request_id, tool.data) });
  }

  private async permit(
    requestId: string,
    request: z.infer<typeof toolRequest>,
  ): Promise<PermissionAnswer> {
    if (!this.askPermission)
      return { behavior: "deny", message: "Nobody can be asked for permission." };
    const withdrawn = new AbortController();
    this.asked.set(requestId, withdrawn);
    try {
      const { tool_name: tool, tool_use_id: toolUseId = requestId, input, description } = request;
      return await this.askPermission({ tool, toolUseId, input, description }, withdrawn.signal);
    } finally {
      this.asked.delete(requestId);
    }
  }

  private withdraw(line: unknown): void {
    const parsed = z.looseObject({ request_id: z.string() }).safeParse(line);
    if (parsed.success) this.asked.get(parsed.data.request_id)?.abort();
  }

  private request(request: object): void {
    this.send({ type: "control_request", request_id: randomUUID(), request });
  }

  private send(message: object): void {
    if (this.process.stdin.writable) this.process.stdin.write(`${JSON.stringify(message)}\n`);
  }
}

/** Talk between the two programs that is no message of the run. */
const passedOver = new Set(["control_response", "keep_alive", "transcript_mirror"]);

/** The object as it came, with all it holds. */
function parseLine(bytes: Buffer): { type: string } | undefined {
  try {
    const line: unknown = JSON.parse(bytes.toString("utf8"));
    return hasType(line) ? line : undefined;
  } catch {
    return undefined;
  }
}

function hasType(line: unknown): line is { type: string } {
  return (
    typeof line === "object" && line !== null && "type" in line && typeof line.type === "string"
  );
}
