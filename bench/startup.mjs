// How long a person waits for any command at all.
import { resolve } from "node:path";
import { inTurns, timeProgram } from "./measure.mjs";

const herdctl = resolve(import.meta.dirname, "../packages/cli/dist/herdctl.mjs");

export async function startup() {
  const times = await inTurns(20, {
    ours: async () => (await timeProgram([herdctl, "--help"])).milliseconds,
    bare: async () => (await timeProgram(["-e", "0"])).milliseconds,
  });
  return { what: "herdctl --help", bareThing: "node -e 0", ...times, bound: { ratio: 2 } };
}
