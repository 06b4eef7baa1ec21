// Names the tests that passed only at a second try, and why the first failed, so that none of them
// goes unseen.
export default class SecondTries {
  #tests = [];

  onTestCaseResult(test) {
    if (!test.diagnostic()?.flaky) return;
    const reasons = (test.result().errors ?? []).map(reasonOf);
    this.#tests.push([`${test.module.relativeModuleId} > ${test.fullName}`, ...reasons]);
  }

  onTestRunEnd() {
    if (this.#tests.length === 0) return;
    const told = this.#tests.map(([name, ...reasons]) => [name, ...reasons].join("\n    "));
    process.stdout.write(`\nPassed at a second try only:\n  ${told.join("\n  ")}\n`);
  }
}

function reasonOf({ message, diff, stacks = [] }) {
  const [place] = stacks;
  const where = place ? `${place.file}:${place.line}` : "at an unknown place";
  return [message, diff, where].filter(Boolean).join("\n").replaceAll("\n", "\n    ");
}
