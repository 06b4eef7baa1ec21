// The memory of a process that logs a message of 20 MB, beside one that only has it.
import { fileURLToPath } from "node:url";
import { inTurns, timeProgram } from "./measure.mjs";

const program = fileURLToPath(new URL("large-message.mjs", import.meta.url));

export async function largeMessage() {
  const peak = async (what) => Number((await timeProgram([program, what])).stdout);
  const times = await inTurns(3, { ours: () => peak("log"), bare: () => peak("hold") });
  return {
    what: "a 20 MB message to the log",
    beside: "the message alone",
    unit: "MB",
    ...times,
    bound: { ratio: 3 },
  };
}
