import { acquireLock } from "../../../packages/core/src/store/sqlite/state-lock.ts";

// Takes the lock on request, prints the result, and keeps it until killed or stdin ends.
process.stdout.write("ready\n");
process.stdin.once("data", () => {
  try {
    acquireLock(process.argv[2] ?? "");
    process.stdout.write("locked\n");
  } catch (error) {
    process.stdout.write(`refused ${error}\n`);
  }
});
process.stdin.on("end", () => process.exit(0));
