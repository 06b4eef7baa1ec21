import { acquireLock } from "../../../packages/core/src/state/lock.ts";

// Takes the lock when told to, says how that went, and keeps it until killed or its stdin ends.
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
