import { setInterval } from "node:timers";
import { openOutput } from "../../../packages/core/src/store/files/output-writer.ts";

// Appends four huge lines among small ones; prints the memory growth and the longest blocking of
// the event loop.
const output = await openOutput(process.argv[2] ?? "");
const line = `{"type":"huge","text":"${"ä".repeat(25 * 1024 * 1024)}"}`;
const before = process.memoryUsage().rss;
let peak = before;
let longestPause = 0;
let last = performance.now();
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
  longestPause = Math.max(longestPause, performance.now() - last);
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
  `${JSON.stringify({ grewMb: (peak - before) / 1024 / 1024, longestPause })}\n`,
);
