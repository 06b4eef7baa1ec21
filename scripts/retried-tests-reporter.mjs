// Lists the tests that passed only when retried, with the errors of their failed attempts.
export default class RetriedTestsReporter {
  #tests = [];

  onTestCaseResult(test) {
    if (!test.diagnostic()?.flaky) return;
    const reasons = (test.result().errors ?? []).map(formatReason);
    this.#tests.push([`${test.module.relativeModuleId} > ${test.fullName}`, ...reasons]);
  }

  onTestRunEnd() {
    if (this.#tests.length === 0) return;
    const lines = this.#tests.map(([name, ...reasons]) => [name, ...reasons].join("\n    "));
    process.stdout.write(`\nPassed only when retried:\n  ${lines.join("\n  ")}\n`);
  }
}

function formatReason({ message, diff, stacks = [] }) {
  const [frame] = stacks;
  const position = frame ? `${frame.file}:${frame.line}` : "unknown position";
  return [message, diff, position].filter(Boolean).join("\n").replaceAll("\n", "\n    ");
}
