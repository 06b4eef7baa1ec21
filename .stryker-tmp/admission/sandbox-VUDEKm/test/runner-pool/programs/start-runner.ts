import { readFileSync } from "node:fs";
import { RunnerPool } from "../../../packages/core/src/runner-pool/runner-pool.ts";

// Hands the assignment in the named file to a runner, prints its pid, and waits to be killed.
const [file = ""] = process.argv.slice(2);
const assignment = JSON.parse(readFileSync(file, "utf8"));
const runner = new RunnerPool().take(assignment);
process.stdout.write(`${runner.pid}\n`);
setInterval(() => undefined, 1_000);
