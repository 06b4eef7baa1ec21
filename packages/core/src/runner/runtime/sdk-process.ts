import { EventEmitter } from "node:events";
import type { SpawnedProcess } from "@anthropic-ai/claude-agent-sdk";
import type { ClaudeProcess } from "./spawn.ts";

/** A process of ours in the form that the SDK takes. */
export class SdkProcess extends EventEmitter implements SpawnedProcess {
  readonly stdin: SpawnedProcess["stdin"];
  readonly stdout: SpawnedProcess["stdout"];
  exitCode: number | null = null;
  killed = false;

  constructor(private readonly process: ClaudeProcess) {
    super();
    this.stdin = process.stdin;
    this.stdout = process.stdout;
    void process.exited.then(({ code, signal, failure }) => {
      this.exitCode = code;
      if (failure === undefined) this.emit("exit", code, signal);
      else this.emit("error", new Error(`the process could not be started (${failure})`));
    });
  }

  kill(signal: NodeJS.Signals): boolean {
    this.killed = true;
    this.process.kill(signal);
    return true;
  }
}
