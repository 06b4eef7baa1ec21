import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Small files with slow tests. Vitest would start them last, and everything would wait for them.
 */
const slowestFirst = [
  "chat/discord.test.ts",
  "chat/slack.test.ts",
  "chat/crash-recovery.test.ts",
  "docker/runtime-conformance.test.ts",
  "examples/examples.test.ts",
  "chaos/fault-injection.test.ts",
  "runtimes/runtime-conformance.test.ts",
  "fleet/many-concurrent-agents.test.ts",
  "triggers/clock-jump.test.ts",
];

export class SlowestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      slowestFirst.some((name) => moduleId.endsWith(name));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
