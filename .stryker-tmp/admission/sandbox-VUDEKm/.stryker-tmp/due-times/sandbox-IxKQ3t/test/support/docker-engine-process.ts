import { resolve } from "node:path";
import { startControlledProgram } from "./controlled-process.ts";

const program = resolve(import.meta.dirname, "../../scripts/docker-engine.mjs");

export interface EngineProgram {
  /** The line with the address of the engine. */
  ready: Promise<string>;
  sendCommand(command: "kill" | "start"): Promise<void>;
  /** Returns what was left behind: containers, or errors of the engine's end. */
  stop(): Promise<string[]>;
}

/** Runs `scripts/docker-engine.mjs`, which removes everything when this process ends. */
export function startEngineProgram(): EngineProgram {
  const unavailableMessage = "there is no Docker engine for the tests";
  const onOutput = (text: string) => void process.stdout.write(text);
  const { ready, sendCommand, end } = startControlledProgram([program], {
    unavailableMessage,
    onOutput,
  });
  return {
    ready,
    sendCommand,
    stop: async () => {
      const { isSuccess, output, lastLine } = await end();
      const wasReady = (await ready.catch(() => "")) !== "";
      const containers: string[] = JSON.parse(lastLine || "{}").left ?? [];
      const problems = isSuccess || !wasReady ? [] : [output];
      return [...containers.map((name) => `container ${name}`), ...problems];
    },
  };
}
