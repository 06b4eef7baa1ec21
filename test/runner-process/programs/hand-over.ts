import { readFileSync } from "node:fs";
import { SparePool } from "../../../packages/core/src/runner-process/spare.ts";

// Hands the assignment in the named file to a runner, says so, and waits to be killed.
const [file = ""] = process.argv.slice(2);
const runner = new SparePool().take(JSON.parse(readFileSync(file, "utf8")));
process.stdout.write(`${runner.pid}\n`);
setInterval(() => undefined, 1_000);
