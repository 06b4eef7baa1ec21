import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Short files that take long: begun last, as short files are, they would keep all others waiting. */
const long = [
  "chat/discord.test.ts",
  "chat/slack.test.ts",
  "chat/killed.test.ts",
  "docker/conformance.test.ts",
  "examples/examples.test.ts",
  "faults/slice.test.ts",
  "runtime/conformance.test.ts",
  "fleet/many-agents.test.ts",
  "triggers/clock-jump.test.ts",
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) =>
      long.some((name) => moduleId.endsWith(name));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
