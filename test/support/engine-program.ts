import { resolve } from "node:path";
import { startOrdered } from "./ordered-program.ts";

const program = resolve(import.meta.dirname, "../../scripts/engine.mjs");

export interface EngineProgram {
  /** The line that says where the engine is. */
  ready: Promise<string>;
  order(what: "kill" | "start"): Promise<void>;
  /** What is returned should not have been left: containers, or what the end of the engine met. */
  stop(): Promise<string[]>;
}

/** `scripts/engine.mjs` as a process of its own, which takes everything with it when we are gone. */
export function startEngineProgram(): EngineProgram {
  const missing = "there is no Docker engine for the tests";
  const onSaid = (text: string) => void process.stdout.write(text);
  const { ready, order, end } = startOrdered([program], { missing, onSaid });
  return {
    ready,
    order,
    stop: async () => {
      const { isWell, said, lastLine } = await end();
      const wasReady = (await ready.catch(() => "")) !== "";
      const containers: string[] = JSON.parse(lastLine || "{}").left ?? [];
      const trouble = isWell || !wasReady ? [] : [said];
      return [...containers.map((name) => `container ${name}`), ...trouble];
    },
  };
}
