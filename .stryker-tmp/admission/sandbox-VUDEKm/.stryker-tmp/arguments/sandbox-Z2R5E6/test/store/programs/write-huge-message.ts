import { setInterval } from "node:timers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openOutput } from "../../../packages/core/src/store/files/output-writer.ts";

// Appends four huge lines among small ones; prints how much memory buffers held at most, without
// garbage, and the longest blocking of the event loop.
setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");
const output = await openOutput(process.argv[2] ?? "");
const line = `{"type":"huge","text":"${"ä".repeat(25 * 1024 * 1024)}"}`;
let peak = 0;
let longestPause = 0;
let last = performance.now();
const watch = setInterval(() => {
  longestPause = Math.max(longestPause, performance.now() - last);
  collectGarbage();
  peak = Math.max(peak, process.memoryUsage().arrayBuffers);
  last = performance.now();
}, 2);
for (let n = 0; n < 4; n++) {
  await Promise.all([
    output.append({ type: "before" }),
    output.appendRaw(line),
    output.append({ type: "after" }),
  ]);
}
clearInterval(watch);
await output.close();
process.stdout.write(
  `${JSON.stringify({ peakMb: peak / 1024 / 1024, longestPause })}\n`,
);
