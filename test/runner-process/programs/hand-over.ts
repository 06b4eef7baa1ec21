import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SparePool } from "../../../packages/core/src/runner-process/spare.ts";

// Hands the assignment in the named file to a runner, says so, and waits to be killed.
const [file = ""] = process.argv.slice(2);
const assignment = JSON.parse(readFileSync(file, "utf8"));
const runner = new SparePool({ scratch: join(assignment.stateDir, "spares") }).take(assignment);
process.stdout.write(`${runner.pid}\n`);
setInterval(() => undefined, 1_000);
