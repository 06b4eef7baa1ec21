import { total } from "./price.mjs";

const found = total([1, 2, 3]);
process.stdout.write(found === 6 ? "✓ every price counts\n" : `✗ expected 6, found ${found}\n`);
process.exitCode = found === 6 ? 0 : 1;
