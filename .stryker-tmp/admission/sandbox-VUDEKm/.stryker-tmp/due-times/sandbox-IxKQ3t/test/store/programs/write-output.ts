import { openOutput } from "../../../packages/core/src/store/files/output-writer.ts";

// Appends numbered messages; prints each number once its line is acknowledged.
const [jobDir = "", count = ""] = process.argv.slice(2);
const output = await openOutput(jobDir);
for (let number = 0; number < Number(count); number++) {
  await output.append({ number, filler: "ü".repeat((number * 37) % 2000) });
  process.stdout.write(`${number}\n`);
}
await output.close();
